//! The model that Python holds.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray3};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use robust_mdp::Objective;
use robust_mdp::io::{
    Format, ReadOptions, losses, read_model_file, read_policy, write_model, write_policy,
};
use robust_mdp::sets::Scenarios;

use crate::background::{run_borrowing, run_quietly};
use crate::errors::{at, raised};
use crate::lists::Lists;
use crate::rows::{About, Bounds, Indices, Matrix, Source, Wrong};

/// A validated model. It never changes, so that threads may share it.
#[pyclass(frozen, module = "robust_mdp._native")]
pub(crate) struct Model {
    pub(crate) model: Arc<robust_mdp::Model>,
}

impl From<robust_mdp::Model> for Model {
    fn from(model: robust_mdp::Model) -> Model {
        Model { model: Arc::new(model) }
    }
}

/// An array of 32 or 64 bit integers.
pub(crate) enum IndexArray<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for IndexArray<'py> {
    type Error = PyErr;

    // Derived, it would put the refusal of the one kind into words before it tries the other. That runs
    // Python code, which may hear Ctrl-C there and lose it.
    fn extract(array: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match array.cast::<PyArray1<i32>>() {
            Ok(short) => Ok(IndexArray::Short(short.try_readonly()?)),
            Err(_) => Ok(IndexArray::Long(array.extract()?)),
        }
    }
}

impl IndexArray<'_> {
    fn indices(&self) -> PyResult<Indices<'_>> {
        Ok(match self {
            IndexArray::Short(all) => Indices::Short(all.as_slice()?),
            IndexArray::Long(all) => Indices::Long(all.as_slice()?),
        })
    }
}

type Numbers<'py> = PyReadonlyArray1<'py, f64>;
/// Least and largest probabilities, and whether nominal ones are chosen within.
type Intervals<T> = Option<(T, T, bool)>;
/// Row starts, next states, probabilities, further costs, intervals.
type Compressed<'py> =
    (IndexArray<'py>, IndexArray<'py>, Numbers<'py>, Option<Numbers<'py>>, Intervals<Numbers<'py>>);
/// State starts, row starts, next states, probabilities, costs, further costs, intervals.
type Arrays<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Option<Bound<'py, PyArray1<f64>>>,
    Option<[Bound<'py, PyArray1<f64>>; 2]>,
);

/// Discount, whether rewards are maximised, initial distribution, names of states and of rows.
type AboutPython<'py> = (f64, bool, Option<Numbers<'py>>, Option<Vec<String>>, Option<Vec<String>>);

fn objective(maximise: bool) -> Objective {
    if maximise { Objective::MaxReward } else { Objective::MinCost }
}

fn about((discount, maximise, initial, states, actions): AboutPython<'_>) -> PyResult<About> {
    Ok(About {
        discount,
        objective: objective(maximise),
        initial: initial.map(|p| p.as_slice().map(<[f64]>::to_vec)).transpose()?,
        state_names: states,
        action_names: actions,
    })
}

fn matrix<'a>(arrays: &'a Compressed<'_>, rows: usize) -> PyResult<Matrix<'a>> {
    let (starts, next, prob, further, bounds) = arrays;
    let bounds = match bounds {
        Some((lower, upper, chooses)) => {
            Some(Bounds { lower: lower.as_slice()?, upper: upper.as_slice()?, chooses: *chooses })
        }
        None => None,
    };
    let matrix = Matrix {
        starts: starts.indices()?,
        next: next.indices()?,
        prob: prob.as_slice()?,
        further: further.as_ref().map(|f| f.as_slice()).transpose()?,
        bounds,
    };
    let entries = matrix.prob.len();
    let further = matrix.further.is_none_or(|f| f.len() == entries);
    let bounds = bounds.is_none_or(|b| [b.lower.len(), b.upper.len()] == [entries; 2]);
    let fits = further && bounds && matrix.next.len() == entries;
    if !fits || !matrix.starts.are_starts(rows, entries) {
        return Err(PyValueError::new_err("the arrays of a sparse matrix do not fit together"));
    }
    Ok(matrix)
}

fn build(
    py: Python<'_>,
    source: &Source<'_>,
    rows: usize,
    states: usize,
    cost: &Numbers<'_>,
    about: About,
) -> PyResult<Model> {
    let cost = cost.as_slice()?;
    let named = |names: &Option<Vec<String>>, n: usize| names.as_ref().is_none_or(|v| v.len() == n);
    if cost.len() != rows || !named(&about.state_names, states) || !named(&about.action_names, rows)
    {
        return Err(PyValueError::new_err(format!(
            "expected {rows} costs or rewards, one a state and action, and as many names"
        )));
    }
    match run_borrowing(py, |interrupt| source.builder(cost, about, interrupt))? {
        // What is left to do reads nothing of Python, and can be left behind.
        Ok(builder) => match run_quietly(py, move || builder.build())? {
            Ok(model) => Ok(model.into()),
            Err(error) => Err(raised(py, error.into())),
        },
        Err(Wrong::Negative { state, action, next }) => {
            let message = format!(
                "state {state}, action {action}: next state {next} does not exist, expected a \
                 number below {states}"
            );
            Err(at(py, message, state, Some(action)))
        }
        // The exception that asked for it is passed on before.
        Err(Wrong::Interrupted) => Err(PyKeyboardInterrupt::new_err(())),
    }
}

/// A kernel as scenarios have it: that of another model, or one number a transition that the model stores.
#[derive(FromPyObject)]
enum Kernel<'py> {
    Model(PyRef<'py, Model>),
    Numbers(Numbers<'py>),
}

#[pymethods]
impl Model {
    /// Rows of all states, one after the other.
    #[staticmethod]
    fn from_rows(
        py: Python<'_>,
        state_starts: IndexArray<'_>,
        rows: Compressed<'_>,
        cost: Numbers<'_>,
        about_model: AboutPython<'_>,
    ) -> PyResult<Model> {
        let count = rows.0.indices()?.len().saturating_sub(1);
        let starts = state_starts.indices()?;
        let states = starts.len().saturating_sub(1);
        if !starts.are_starts(states, count) {
            return Err(PyValueError::new_err("the starts of states do not fit the rows"));
        }
        let source = Source::Rows { states: starts, rows: matrix(&rows, count)? };
        build(py, &source, count, states, &cost, about(about_model)?)
    }

    /// One matrix an action; `cost` is in the order of states, then actions.
    #[staticmethod]
    fn from_actions(
        py: Python<'_>,
        matrices: Vec<Compressed<'_>>,
        states: usize,
        cost: Numbers<'_>,
        about_model: AboutPython<'_>,
    ) -> PyResult<Model> {
        let rows = states * matrices.len();
        let parts: PyResult<_> = matrices.iter().map(|m| matrix(m, states)).collect();
        build(py, &Source::Actions(parts?), rows, states, &cost, about(about_model)?)
    }

    /// `prob[state, action, next]`, in any order in memory.
    #[staticmethod]
    fn from_dense(
        py: Python<'_>,
        prob: PyReadonlyArray3<'_, f64>,
        further: Option<PyReadonlyArray3<'_, f64>>,
        bounds: Intervals<PyReadonlyArray3<'_, f64>>,
        cost: Numbers<'_>,
        about_model: AboutPython<'_>,
    ) -> PyResult<Model> {
        let prob = prob.as_array();
        let further = further.as_ref().map(|f| f.as_array());
        let bounds = bounds.as_ref().map(|(lower, upper, chooses)| Bounds {
            lower: lower.as_array(),
            upper: upper.as_array(),
            chooses: *chooses,
        });
        let (states, actions, next) = prob.dim();
        let beside = bounds.iter().flat_map(|b| [b.lower, b.upper]).chain(further);
        if next != states || beside.into_iter().any(|array| array.dim() != prob.dim()) {
            return Err(PyValueError::new_err("expected arrays of shape (S, A, S)"));
        }
        let source = Source::Dense { prob, further, bounds };
        build(py, &source, states * actions, states, &cost, about(about_model)?)
    }

    /// Reads a file; also returns warnings.
    #[staticmethod]
    #[pyo3(signature = (path, format, discount, reach, rewards, maximise))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        discount: Option<f64>,
        reach: Vec<String>,
        rewards: Option<String>,
        maximise: Option<bool>,
    ) -> PyResult<(Model, Vec<String>)> {
        let format = format.map(str::parse).transpose().map_err(|e| raised(py, e))?;
        let objective = maximise.map(self::objective);
        let options = ReadOptions { format, discount, reach, rewards, objective };
        let read = run_quietly(py, move || read_model_file(&path, &options))?;
        let file = read.map_err(|e| raised(py, e))?;
        Ok((file.model.into(), file.warnings))
    }

    /// Whether a file of this format, or else by the ending of its path, holds a discount factor.
    #[staticmethod]
    #[pyo3(signature = (path, format))]
    fn holds_discount(py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<bool> {
        let format = format.map_or_else(|| Format::of(&path), str::parse);
        Ok(format.map_err(|e| raised(py, e))?.holds_discount())
    }

    /// Writes a file; returns warnings of what it does not hold.
    #[pyo3(signature = (path, format))]
    fn save(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<Vec<String>> {
        let format = format.map(str::parse).transpose().map_err(|e| raised(py, e))?;
        let model = self.model.clone();
        run_quietly(py, move || write_model(&model, &path, format))?.map_err(|e| raised(py, e))
    }

    /// What a file of this format does not hold.
    fn losses(&self, py: Python<'_>, format: &str) -> PyResult<Vec<String>> {
        let format = format.parse().map_err(|e| raised(py, e))?;
        let model = self.model.clone();
        run_quietly(py, move || losses(&model, format))
    }

    /// The same model with another discount factor.
    fn with_discount(&self, py: Python<'_>, discount: f64) -> PyResult<Model> {
        if discount == self.model.discount() {
            return Ok(Model { model: self.model.clone() });
        }
        let model = self.model.clone();
        let job = move || robust_mdp::Model::clone(&model).with_discount(discount);
        Ok(run_quietly(py, job)?.map_err(|e| raised(py, e.into()))?.into())
    }

    /// The same model with another cost or reward of next states that are not listed.
    fn with_unlisted_cost(&self, py: Python<'_>, cost: f64) -> PyResult<Model> {
        let model = self.model.clone();
        let job = move || robust_mdp::Model::clone(&model).with_unlisted_cost(cost);
        Ok(run_quietly(py, job)?.map_err(|e| raised(py, e))?.into())
    }

    /// Least and largest cost or reward of next states that are not listed, if there are any.
    #[getter]
    fn unlisted_costs(&self, py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
        let model = self.model.clone();
        run_quietly(py, move || model.unlisted_costs())
    }

    #[getter]
    fn states(&self) -> usize {
        self.model.states()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.model.rows()
    }

    /// Transitions of positive probability.
    #[getter]
    fn transitions(&self, py: Python<'_>) -> usize {
        py.detach(|| self.model.positive_transitions())
    }

    #[getter]
    fn is_dense(&self) -> bool {
        self.model.is_dense()
    }

    #[getter]
    fn discount(&self) -> f64 {
        self.model.discount()
    }

    #[getter]
    fn maximise(&self) -> bool {
        self.model.objective() == Objective::MaxReward
    }

    #[getter]
    fn largest_cost(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.model.largest_cost())
    }

    #[getter]
    fn initial<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.model.initial().map(|p| PyArray1::from_slice(py, p))
    }

    /// 128 bits that tell models apart.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<u128> {
        let model = self.model.clone();
        run_quietly(py, move || model.fingerprint())
    }

    /// Whether states and whether actions have names beyond their numbers.
    fn are_named(&self) -> (bool, bool) {
        let model = &self.model;
        let states = (0..model.states()).take(1).any(|s| is_kept(model.state_name(s)));
        let first = (0..model.states()).find(|&s| !model.rows_of(s).is_empty());
        let actions = first.is_some_and(|s| is_kept(model.action_name(s, model.rows_of(s).start)));
        (states, actions)
    }

    fn state_names(&self) -> Vec<String> {
        (0..self.model.states()).map(|s| self.model.state_name(s).into_owned()).collect()
    }

    /// One name a row.
    fn action_names(&self) -> Vec<String> {
        let model = &self.model;
        let of = |s: usize| model.rows_of(s).map(move |r| model.action_name(s, r).into_owned());
        (0..model.states()).flat_map(of).collect()
    }

    /// Where the rows of the states begin.
    fn state_starts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let model = &self.model;
        let ends = (0..model.states()).map(|s| model.rows_of(s).end as i64);
        PyArray1::from_iter(py, std::iter::once(0).chain(ends))
    }

    /// Whether probabilities have intervals.
    #[getter]
    fn has_intervals(&self) -> bool {
        self.model.has_intervals()
    }

    /// Compressed rows; costs are in the model's own sign.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        if i32::try_from(self.model.states()).is_err() {
            return Err(PyOverflowError::new_err("too many states for 32 bit indices"));
        }
        let model = self.model.clone();
        let lists = run_quietly(py, move || Lists::of(&model))?;
        Ok((
            self.state_starts(py),
            PyArray1::from_vec(py, lists.starts),
            PyArray1::from_vec(py, lists.next),
            PyArray1::from_vec(py, lists.prob),
            PyArray1::from_vec(py, lists.cost),
            lists.further.map(|further| PyArray1::from_vec(py, further)),
            lists.bounds.map(|bounds| bounds.map(|bound| PyArray1::from_vec(py, bound))),
        ))
    }

    /// Writes a table of a policy's probabilities.
    /// Kernels on the transitions of this model, as its scenarios.
    fn scenarios<'py>(
        &self,
        py: Python<'py>,
        kernels: Vec<Kernel<'py>>,
    ) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let of = |(k, kernel): (usize, &Kernel<'py>)| match kernel {
            Kernel::Model(other) => Scenarios::aligned(&self.model, &other.model)
                .map_err(|message| PyValueError::new_err(format!("scenario {}: {message}", k + 1))),
            Kernel::Numbers(numbers) => Ok(numbers.as_slice()?.to_vec()),
        };
        let kernels: PyResult<Vec<Vec<f64>>> = kernels.iter().enumerate().map(of).collect();
        let made = Scenarios::new(&self.model, &kernels?).map_err(|e| raised(py, e))?;
        Ok(made.kernels().into_iter().map(|kernel| kernel.into_pyarray(py)).collect())
    }

    fn write_policy(&self, py: Python<'_>, path: PathBuf, policy: Numbers<'_>) -> PyResult<()> {
        let policy = policy.as_slice()?;
        if policy.len() != self.model.rows() {
            return Err(PyValueError::new_err("the policy is one of another model"));
        }
        let (model, policy) = (self.model.clone(), policy.to_vec());
        run_quietly(py, move || write_policy(&path, &model, &policy))?.map_err(|e| raised(py, e))
    }

    /// Reads such a table.
    fn read_policy<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let model = self.model.clone();
        let read = run_quietly(py, move || read_policy(&path, &model))?;
        Ok(PyArray1::from_vec(py, read.map_err(|e| raised(py, e))?))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("pickle robust_mdp.Model instead"))
    }
}

/// Whether a name is one that the model keeps, not one made from a number.
fn is_kept(name: Cow<'_, str>) -> bool {
    match name {
        Cow::Borrowed(_) => true,
        Cow::Owned(_) => false,
    }
}
