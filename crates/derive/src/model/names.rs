//! The names that expressions use.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{Expr, ExprPath, Ident, parse_quote};

/// Returns the identifiers of an expression with the given names, in order, also those inside of macros.
pub(super) fn used<'a>(expression: &impl ToTokens, known: impl Fn(&str) -> bool + 'a) -> Vec<Ident> {
    let mut found = Vec::new();
    collect(expression.to_token_stream(), &known, &mut found);
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

/// Returns the expression with every use of a tensor as a clone, because operators consume tensors.
pub(super) fn cloned(expression: &Expr, tensors: &BTreeSet<String>) -> Expr {
    let mut expression = expression.clone();
    Cloner { tensors }.visit_expr_mut(&mut expression);
    expression
}

/// Replaces names of tensors by clones.
struct Cloner<'a> {
    tensors: &'a BTreeSet<String>,
}

impl VisitMut for Cloner<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        visit_expr_mut(self, expression);
        if let Expr::Path(ExprPath { qself: None, path, .. }) = expression
            && let Some(name) = path.get_ident()
            && self.tensors.contains(&name.to_string())
        {
            *expression = parse_quote!(#name.clone());
        }
    }
}

/// Returns the expression of a distribution, in which `Normal(…)` is short for `Normal::new(…)`.
pub(super) fn distribution(expression: &Expr) -> Expr {
    let mut expression = expression.clone();
    construct(&mut expression);
    expression
}

fn construct(expression: &mut Expr) {
    match expression {
        Expr::Call(call) => {
            if let Expr::Path(function) = call.func.as_mut()
                && let Some(name) = function.path.get_ident()
                && name.to_string().starts_with(char::is_uppercase)
            {
                let new = Ident::new("new", name.span());
                *call.func = parse_quote!(#name::#new);
            }
        }
        Expr::Array(array) => array.elems.iter_mut().for_each(construct),
        Expr::Tuple(tuple) => tuple.elems.iter_mut().for_each(construct),
        Expr::MethodCall(call) => {
            construct(&mut call.receiver);
            call.args.iter_mut().for_each(construct);
        }
        Expr::Paren(inner) => construct(&mut inner.expr),
        _ => {}
    }
}
