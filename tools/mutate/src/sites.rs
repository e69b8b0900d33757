//! The places of a file where mutants differ from it.

use std::ops::Range;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    Arm, Attribute, BinOp, Block, Expr, ExprBinary, ExprConst, ExprLet, ExprMatch, ExprRepeat,
    ExprUnary, File, GenericArgument, ImplItemConst, ImplItemFn, ItemConst, ItemFn, ItemImpl,
    ItemMod, ItemStatic, ItemTrait, Pat, Signature, Stmt, TraitItemConst, TraitItemFn, TypeArray,
    UnOp, Variant, spanned::Spanned, visit, visit::Visit,
};

use crate::values::values;

/// A place and what may stand there instead.
pub struct Site {
    /// The bytes that are replaced; none where something is put in.
    pub range: Range<usize>,
    pub shape: Shape,
    pub function: String,
    pub mutants: Vec<Mutant>,
}

impl Site {
    /// The place as text.
    pub fn bytes(&self) -> String {
        format!("{}-{}", self.range.start, self.range.end)
    }
}

/// How a branch is made of a place.
#[derive(Clone, Copy)]
pub enum Shape {
    /// An expression, replaced by another.
    Expression,
    /// The start of a function's body: the mutant returns at once.
    Body,
    /// A statement that the mutant leaves out.
    Statement,
    /// The end of an arm's pattern: the mutant's arm is never taken.
    Arm,
    /// The condition of an arm that the mutant never takes.
    GuardedArm,
}

/// What stands there instead.
pub struct Mutant {
    /// For people, and the mutant's name among those of its place.
    pub change: String,
    pub pieces: Vec<Piece>,
}

/// A part of a mutant's text.
pub enum Piece {
    Text(String),
    /// These bytes of the file, with the mutants inside them.
    Source(Range<usize>),
}

/// All places of the file, each before those inside it.
pub fn sites(text: &str) -> syn::Result<Vec<Site>> {
    let file: File = syn::parse_file(text)?;
    let mut finder = Finder { text, names: Vec::new(), sites: Vec::new() };
    finder.visit_file(&file);
    // A place that begins where another does is inside the longer one; of the same bytes, the first found is outside.
    finder.sites.sort_by_key(|site| (site.range.start, usize::MAX - site.range.end));
    Ok(finder.sites)
}

struct Finder<'t> {
    text: &'t str,
    /// Of the modules, types and functions around.
    names: Vec<String>,
    sites: Vec<Site>,
}

impl Finder<'_> {
    fn add(&mut self, range: Range<usize>, shape: Shape, mutants: Vec<Mutant>) {
        if !mutants.is_empty() {
            self.sites.push(Site { range, shape, function: self.names.join("::"), mutants });
        }
    }

    fn within(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.names.push(name);
        visit(self);
        self.names.pop();
    }

    /// A function and what is inside it, unless it may be called at compile time.
    fn function(&mut self, signature: &Signature, body: &Block) {
        if signature.constness.is_some() {
            return;
        }
        self.within(signature.ident.to_string(), |finder| {
            let brace = body.brace_token.span.open().byte_range();
            let whole = normal(&body.stmts.iter().map(ToTokens::to_token_stream).collect());
            let mutants = values(&signature.output)
                .into_iter()
                .filter(|value| normal(value) != whole)
                .map(|value| {
                    let value = as_written(&value);
                    let change = if value.is_empty() {
                        "return at once".into()
                    } else {
                        format!("return {value}")
                    };
                    Mutant { change, pieces: vec![Piece::Text(format!("return {value};"))] }
                })
                .collect();
            if !whole.is_empty() {
                finder.add(brace.end..brace.end, Shape::Body, mutants);
            }
            visit::visit_block(finder, body);
        });
    }

    fn line(&self, range: Range<usize>) -> String {
        let words: Vec<_> = self.text[range].split_whitespace().collect();
        let line = words.join(" ");
        if line.chars().count() > 60 {
            line.chars().take(57).chain("...".chars()).collect()
        } else {
            line
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            self.within(item.ident.to_string(), |finder| visit::visit_item_mod(finder, item));
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if !is_test(&item.attrs) {
            let name = match &*item.self_ty {
                syn::Type::Path(path) => {
                    path.path.segments.last().map(|segment| segment.ident.to_string())
                }
                _ => None,
            };
            self.within(name.unwrap_or_else(|| "_".into()), |finder| {
                visit::visit_item_impl(finder, item);
            });
        }
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.within(item.ident.to_string(), |finder| visit::visit_item_trait(finder, item));
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let (left, right) = (binary.left.span().byte_range(), binary.right.span().byte_range());
        if binary.attrs.is_empty() && !binds(&binary.left) && !binds(&binary.right) {
            let operator = binary.op.to_token_stream().to_string();
            let mutants = replacements(&binary.op)
                .iter()
                .map(|other| {
                    let place = self.line(left.start..right.end);
                    let change = format!("{operator} to {other} in {place}");
                    let pieces = vec![
                        Piece::Text("(".into()),
                        Piece::Source(left.clone()),
                        Piece::Text(format!(") {other} (")),
                        Piece::Source(right.clone()),
                        Piece::Text(")".into()),
                    ];
                    Mutant { change, pieces }
                })
                .collect();
            self.add(left.start..right.end, Shape::Expression, mutants);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast ExprUnary) {
        if let UnOp::Not(_) | UnOp::Neg(_) = unary.op
            && unary.attrs.is_empty()
            && !matches!(*unary.expr, Expr::Lit(_))
        {
            let (range, operand) = (unary.span().byte_range(), unary.expr.span().byte_range());
            let operator = unary.op.to_token_stream();
            let change = format!("no {operator} in {}", self.line(range.clone()));
            self.add(
                range,
                Shape::Expression,
                vec![Mutant { change, pieces: vec![Piece::Source(operand)] }],
            );
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_match(&mut self, expression: &'ast ExprMatch) {
        let covered = expression.arms.iter().any(covers_all);
        for arm in &expression.arms {
            let pattern = arm.pat.span().byte_range();
            let change = format!("no arm {}", self.line(pattern.clone()));
            let removed = |change| vec![Mutant { change, pieces: Vec::new() }];
            match &arm.guard {
                Some((_, guard)) if !binds(guard) => {
                    let range = guard.span().byte_range();
                    let place = self.line(range.clone());
                    if covered {
                        self.add(range.clone(), Shape::GuardedArm, removed(change));
                    }
                    let always = ["true", "false"].map(|value| Mutant {
                        change: format!("{value} for the guard {place}"),
                        pieces: vec![Piece::Text(value.into())],
                    });
                    self.add(range, Shape::Expression, always.into());
                }
                None if covered && !covers_all(arm) => {
                    self.add(pattern.end..pattern.end, Shape::Arm, removed(change));
                }
                _ => {}
            }
        }
        visit::visit_expr_match(self, expression);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement
            && let Expr::Call(_) | Expr::MethodCall(_) | Expr::Try(_) | Expr::Assign(_) = expression
            && !is_test(attributes(expression))
        {
            let range = statement.span().byte_range();
            let change = format!("without {}", self.line(range.clone()));
            self.add(range, Shape::Statement, vec![Mutant { change, pieces: Vec::new() }]);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_generic_argument(&mut self, _: &'ast GenericArgument) {}
    fn visit_type_array(&mut self, _: &'ast TypeArray) {}
    fn visit_expr_const(&mut self, _: &'ast ExprConst) {}
    fn visit_item_const(&mut self, _: &'ast ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast TraitItemConst) {}
    fn visit_variant(&mut self, _: &'ast Variant) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// What an operator is mistaken for.
fn replacements(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Add(_) => &["-", "*"],
        BinOp::Sub(_) | BinOp::Mul(_) => &["+", "/"],
        BinOp::Div(_) => &["%", "*"],
        BinOp::Rem(_) => &["/", "+"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::BitXor(_) => &["|", "&"],
        BinOp::BitAnd(_) => &["|", "^"],
        BinOp::BitOr(_) => &["&", "^"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["<=", "==", ">"],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "==", "<"],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::AddAssign(_) => &["-=", "*="],
        BinOp::SubAssign(_) | BinOp::MulAssign(_) => &["+=", "/="],
        BinOp::DivAssign(_) => &["%=", "*="],
        BinOp::RemAssign(_) => &["/=", "+="],
        BinOp::BitXorAssign(_) => &["|=", "&="],
        BinOp::BitAndAssign(_) => &["|=", "^="],
        BinOp::BitOrAssign(_) => &["&=", "^="],
        BinOp::ShlAssign(_) => &[">>="],
        BinOp::ShrAssign(_) => &["<<="],
        _ => &[],
    }
}

/// Whether `let` in a chain of `&&` binds names: no branch can be made of a part of it.
fn binds(expression: &Expr) -> bool {
    struct Lets(bool);
    impl<'ast> Visit<'ast> for Lets {
        fn visit_expr_let(&mut self, _: &'ast ExprLet) {
            self.0 = true;
        }
        // Chains of their own.
        fn visit_expr_if(&mut self, _: &'ast syn::ExprIf) {}
        fn visit_expr_while(&mut self, _: &'ast syn::ExprWhile) {}
        fn visit_expr_match(&mut self, _: &'ast ExprMatch) {}
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
        fn visit_block(&mut self, _: &'ast Block) {}
    }
    let mut lets = Lets(false);
    lets.visit_expr(expression);
    lets.0
}

/// Whether the arm takes what others leave.
fn covers_all(arm: &Arm) -> bool {
    arm.guard.is_none()
        && match &arm.pat {
            Pat::Wild(_) => true,
            Pat::Ident(name) => {
                name.subpat.is_none()
                    && name.ident.to_string().starts_with(|first: char| first.is_lowercase())
            }
            _ => false,
        }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && normal(&attribute.meta.to_token_stream()).contains("cfg(test)")
    })
}

fn attributes(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::Call(call) => &call.attrs,
        Expr::MethodCall(call) => &call.attrs,
        Expr::Try(attempt) => &attempt.attrs,
        Expr::Assign(assignment) => &assignment.attrs,
        _ => &[],
    }
}

/// Tokens with the spaces that people put between them.
fn as_written(tokens: &TokenStream) -> String {
    [(" :: ", "::"), (" (", "("), (" ,", ","), (" ;", ";"), ("& ", "&")]
        .iter()
        .fold(tokens.to_string(), |text, (spaced, written)| text.replace(spaced, written))
}

fn normal(tokens: &TokenStream) -> String {
    tokens.to_string().split_whitespace().collect()
}
