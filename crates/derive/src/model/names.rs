//! The names that expressions use.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{VisitMut, visit_expr_mut, visit_pat_mut};
use syn::{Expr, ExprClosure, ExprLit, ExprPath, Ident, Lit, LitFloat, Pat, Token, parse_quote};

/// Constructors of the standard library, which are not short for `new`.
const CONSTRUCTORS: [&str; 3] = ["Some", "Ok", "Err"];

/// Returns the identifiers of an expression with the given names, in order, also those inside of macros. Names that the
/// expression itself binds, such as arguments of closures, are left out.
pub(super) fn used(expression: &Expr, known: impl Fn(&str) -> bool) -> Vec<Ident> {
    let (mut found, bound) = (Vec::new(), bound(expression));
    collect(expression.to_token_stream(), &|name: &str| known(name) && !bound.contains(name), &mut found);
    found
}

fn collect(tokens: TokenStream, known: &dyn Fn(&str) -> bool, found: &mut Vec<Ident>) {
    // A name after a dot is a field or a method.
    let mut after_dot = false;
    for token in tokens {
        match token {
            TokenTree::Ident(name) if !after_dot && known(&name.to_string()) => found.push(name),
            TokenTree::Group(group) => collect(group.stream(), known, found),
            TokenTree::Punct(ref punct) if punct.as_char() == '.' => {
                after_dot = true;
                continue;
            }
            _ => {}
        }
        after_dot = false;
    }
}

/// Returns the names that patterns of an expression bind: arguments of closures, and variables.
fn bound(expression: &Expr) -> BTreeSet<String> {
    Patterns::of(expression).all
}

/// The names that patterns bind.
#[derive(Default)]
struct Patterns {
    all: BTreeSet<String>,
    /// The names of variables that are assigned to.
    mutable: BTreeSet<String>,
}

impl Patterns {
    fn of(expression: &Expr) -> Self {
        let mut patterns = Self::default();
        patterns.visit_expr_mut(&mut expression.clone());
        patterns
    }
}

impl VisitMut for Patterns {
    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        if let Pat::Ident(bound) = pattern {
            self.all.insert(bound.ident.to_string());
            if bound.mutability.is_some() {
                self.mutable.insert(bound.ident.to_string());
            }
        }
        visit_pat_mut(self, pattern);
    }
}

/// Returns the names in an expression that are neither `known` nor bound in it, and which are values rather than functions.
pub(super) fn unknown(expression: &Expr, known: &dyn Fn(&str) -> bool) -> Vec<Ident> {
    let mut values = Values { known, bound: bound(expression), found: Vec::new() };
    values.visit_expr_mut(&mut expression.clone());
    values.found
}

/// Collects names of values that nothing declares.
struct Values<'a> {
    known: &'a dyn Fn(&str) -> bool,
    bound: BTreeSet<String>,
    found: Vec<Ident>,
}

impl Values<'_> {
    /// Visits an argument of a method, which can be the name of a function.
    fn argument(&mut self, argument: &mut Expr) {
        if !matches!(argument, Expr::Path(_)) {
            self.visit_expr_mut(argument);
        }
    }
}

impl VisitMut for Values<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        match expression {
            Expr::Path(ExprPath { qself: None, path, .. }) => {
                let Some(name) = path.get_ident() else { return };
                let text = name.to_string();
                // Names of constants are upper case.
                if text.starts_with(char::is_lowercase) && !(self.known)(&text) && !self.bound.contains(&text) {
                    self.found.push(name.clone());
                }
            }
            Expr::Call(call) => {
                let takes_functions = matches!(&*call.func, Expr::Path(path) if path.path.is_ident("TimeSeries"));
                if !matches!(*call.func, Expr::Path(_)) {
                    self.visit_expr_mut(&mut call.func);
                }
                for argument in &mut call.args {
                    if takes_functions { self.argument(argument) } else { self.visit_expr_mut(argument) }
                }
            }
            Expr::MethodCall(call) => {
                self.visit_expr_mut(&mut call.receiver);
                call.args.iter_mut().for_each(|argument| self.argument(argument));
            }
            other => visit_expr_mut(self, other),
        }
    }
}

/// Returns the expression with every use of a tensor as a clone, because operators consume tensors. Closures own clones of
/// the tensors that they use.
pub(super) fn cloned(expression: &Expr, tensors: &BTreeSet<String>) -> Expr {
    let patterns = Patterns::of(expression);
    let local = patterns.all.difference(&patterns.mutable).cloned();
    let tensors = tensors.iter().cloned().chain(local).collect();
    let mut expression = expression.clone();
    Cloner { tensors: &tensors }.visit_expr_mut(&mut expression);
    expression
}

/// Replaces names of tensors by clones.
struct Cloner<'a> {
    tensors: &'a BTreeSet<String>,
}

impl Cloner<'_> {
    /// Returns a closure that owns clones of the tensors from outside.
    fn owned(&mut self, mut closure: ExprClosure) -> Expr {
        let own = bound(&Expr::Closure(closure.clone()));
        let mut captured = used(&closure.body, |name| self.tensors.contains(name) && !own.contains(name));
        captured.sort();
        captured.dedup();
        closure.capture = Some(Token![move](closure.inputs_begin.span));
        self.visit_expr_mut(&mut closure.body);
        if captured.is_empty() {
            return Expr::Closure(closure);
        }
        parse_quote!({ #(let #captured = #captured.clone();)* #closure })
    }
}

impl VisitMut for Cloner<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        if let Expr::Closure(closure) = expression {
            *expression = self.owned(closure.clone());
            return;
        }
        visit_expr_mut(self, expression);
        if let Expr::Binary(binary) = expression {
            typed(&mut binary.left);
        }
        if let Expr::Path(ExprPath { qself: None, path, .. }) = expression
            && let Some(name) = path.get_ident()
            && self.tensors.contains(&name.to_string())
        {
            *expression = parse_quote!(#name.clone());
        }
    }
}

/// Gives a literal such as `1.0` the type `f64`: Burn defines `1.0 - tensor` for several types of numbers, so that the
/// type of a difference that a closure uses would not be known.
fn typed(operand: &mut Expr) {
    if let Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) = operand
        && number.suffix().is_empty()
    {
        *number = LitFloat::new(&format!("{}f64", number.base10_digits()), number.span());
    }
}

/// Distributions whose names in lower case are those of functions in other languages.
const DISTRIBUTIONS: [&str; 20] = [
    "Bernoulli",
    "Beta",
    "Cauchy",
    "Dirichlet",
    "Exponential",
    "Gamma",
    "HalfCauchy",
    "HalfNormal",
    "InverseGamma",
    "Laplace",
    "LogNormal",
    "Logistic",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "StudentT",
    "Uniform",
    "Weibull",
];

/// Returns the name of the distribution that another language calls `name`, as in `student_t` or `lognormal`.
pub(super) fn type_of(name: &str) -> Option<&'static str> {
    let plain = name.replace('_', "");
    let is_function = name.starts_with(char::is_lowercase);
    DISTRIBUTIONS.into_iter().find(|known| is_function && known.to_lowercase() == plain)
}

/// Returns the expression, in which `Normal(…)` is short for `Normal::new(…)`.
pub(super) fn constructed(expression: &Expr) -> Expr {
    let mut expression = expression.clone();
    Constructor.visit_expr_mut(&mut expression);
    expression
}

/// Replaces calls of types by calls of their function `new`.
struct Constructor;

impl VisitMut for Constructor {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        visit_expr_mut(self, expression);
        if let Expr::Call(call) = expression
            && let Expr::Path(function) = call.func.as_mut()
            && let Some(name) = function.path.get_ident()
            && name.to_string().starts_with(char::is_uppercase)
            && !CONSTRUCTORS.contains(&name.to_string().as_str())
        {
            let new = Ident::new("new", name.span());
            *call.func = parse_quote!(#name::#new);
        }
    }
}
