//! Expressions that are written as in other languages.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{BinOp, Error, Expr, Result, UnOp};

/// Functions of other languages, with what to write instead.
const FUNCTIONS: [(&str, &str); 8] = [
    ("exp", "x.exp()"),
    ("log", "x.log()"),
    ("sqrt", "x.sqrt()"),
    ("fabs", "x.abs()"),
    ("sum", "x.sum()"),
    ("pow", "x.square()` or `x.powf_scalar(0.5)"),
    ("inv_logit", "sgmcmc::burn::activation::sigmoid(x)"),
    ("dot_product", "linear(x, beta)"),
];

/// Refuses an expression that is written as in another language. `is_tensor` tells the names of parameters and data: a
/// computed value need not be a tensor.
pub(super) fn check(expression: &Expr, is_tensor: &dyn Fn(&str) -> bool) -> Result<()> {
    let mut finder = Finder { is_tensor, found: None };
    finder.visit_expr_mut(&mut expression.clone());
    finder.found.map_or(Ok(()), Err)
}

/// Finds the first mistake.
struct Finder<'a> {
    is_tensor: &'a dyn Fn(&str) -> bool,
    found: Option<Error>,
}

impl Finder<'_> {
    /// Returns whether an expression is a tensor, or arithmetic with one. Methods can return other types.
    fn is_tensor(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| (self.is_tensor)(&name.to_string())),
            Expr::Paren(paren) => self.is_tensor(&paren.expr),
            Expr::Unary(unary) => self.is_tensor(&unary.expr),
            Expr::Binary(binary) => self.is_tensor(&binary.left) || self.is_tensor(&binary.right),
            _ => false,
        }
    }

    fn report(&mut self, span: Span, message: impl std::fmt::Display) {
        if self.found.is_none() {
            self.found = Some(Error::new(span, message));
        }
    }

    fn power(&mut self, span: Span) {
        self.report(span, "powers are methods: `x.square()`, `x.powi_scalar(3)`, `x.powf_scalar(0.5)`, `x.powf(y)`");
    }
}

impl VisitMut for Finder<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        match expression {
            Expr::Index(index) if self.is_tensor(&index.expr) || self.is_tensor(&index.index) => self.report(
                index.bracket_token.span.join(),
                "tensors have no brackets: `x.by(group)` has the entry of each observation, `x.at(0)` is one entry, and \
                 `x.part(0..3)` are some",
            ),
            Expr::Binary(binary) if self.is_tensor(&binary.left) => match &binary.op {
                BinOp::BitXor(operator) => self.power(operator.span),
                // `x ** 2` is the product of x and `*2`.
                BinOp::Mul(operator) if matches!(&*binary.right, Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_))) => {
                    self.power(operator.span);
                }
                BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) | BinOp::Eq(_) | BinOp::Ne(_) => self.report(
                    binary.op.span(),
                    "tensors are compared by methods, `x.greater_elem(0.0)`, and `a.mask_where(condition, b)` chooses between \
                     values",
                ),
                _ => {}
            },
            Expr::Call(call) => {
                let named = call.args.iter().find(|argument| matches!(argument, Expr::Assign(_)));
                if let Some(named) = named {
                    self.report(named.span(), "arguments have no names: write the values in their order, `Normal(0, 1)`");
                }
                if let (Expr::Path(function), Some(argument)) = (&*call.func, call.args.first())
                    && let Some(name) = function.path.get_ident()
                    && let Some((_, remedy)) = FUNCTIONS.iter().find(|(known, _)| name == known)
                    && self.is_tensor(argument)
                {
                    self.report(name.span(), format!("`{name}` is no function of tensors: write `{remedy}`"));
                }
            }
            _ => {}
        }
        visit_expr_mut(self, expression);
    }
}
