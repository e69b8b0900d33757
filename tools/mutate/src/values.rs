//! What a mutant of a whole function returns: plausible values of its type, as far as the type's name tells.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericArgument, PathArguments, ReturnType, Type, TypePath};

pub fn values(output: &ReturnType) -> Vec<TokenStream> {
    match output {
        ReturnType::Default => vec![quote!()],
        ReturnType::Type(_, of) => of_type(of),
    }
}

fn of_type(of: &Type) -> Vec<TokenStream> {
    match of {
        Type::Path(path) => of_path(path),
        Type::Paren(inner) => of_type(&inner.elem),
        Type::Tuple(tuple) if tuple.elems.is_empty() => vec![quote!(())],
        Type::Tuple(tuple) => {
            // The first value of each, and no more: enough to see whether anyone looks.
            let first: Option<Vec<_>> =
                tuple.elems.iter().map(|each| of_type(each).into_iter().next()).collect();
            first.map(|each| quote!((#(#each),*))).into_iter().collect()
        }
        Type::Array(array) => {
            let length = &array.len;
            of_type(&array.elem).into_iter().map(|each| quote!([#each; #length])).collect()
        }
        Type::Reference(reference) => match (&*reference.elem, reference.mutability) {
            (Type::Slice(_), None) => vec![quote!(&[])],
            (Type::Slice(_), Some(_)) => vec![quote!(&mut [])],
            (Type::Path(path), None) if path.path.is_ident("str") => vec![quote!("")],
            _ => Vec::new(),
        },
        // Of `impl Trait` a function has one type; of the rest no value is plausible.
        _ => Vec::new(),
    }
}

fn of_path(path: &TypePath) -> Vec<TokenStream> {
    let Some(last) = path.path.segments.last() else { return Vec::new() };
    let inner = || match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(of) => Some(of_type(of)),
                _ => None,
            })
        }
        _ => None,
    };
    match last.ident.to_string().as_str() {
        "bool" => vec![quote!(true), quote!(false)],
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128"
        | "isize" => {
            vec![quote!(0), quote!(1)]
        }
        "Option" => {
            let some = inner().unwrap_or_default().into_iter().map(|value| quote!(Some(#value)));
            [quote!(None)].into_iter().chain(some).collect()
        }
        "Result" => {
            inner().unwrap_or_default().into_iter().map(|value| quote!(Ok(#value))).collect()
        }
        // Whether the type has it, the compiler knows.
        _ => vec![quote!(Default::default())],
    }
}
