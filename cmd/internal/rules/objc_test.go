package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// objcPackage is darwinkit's binding of the Objective-C runtime.
const objcPackage = "github.com/progrium/darwinkit/objc"

// callsObjC reports whether one of the files imports that.
func callsObjC(files []*ast.File) bool {
	return slices.ContainsFunc(files, func(file *ast.File) bool {
		return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(objcPackage) })
	})
}

// blocks finds Go functions that darwinkit cannot make methods or blocks of: it
// describes each parameter and result to the Objective-C runtime by a type
// encoding, and panics at run time over a type that it has none for, a function
// for one. A function becomes a method or a block where it is passed as an
// interface, or as a method of the class that NewClass makes.
func (c *checker) blocks(info *types.Info, files []*ast.File) {
	kit := c.checked[objcPackage]
	if kit == nil {
		return // that it is missing was said
	}
	e := encoder{}
	if handle := kit.Scope().Lookup("Handle"); handle != nil {
		e.handle, _ = handle.Type().Underlying().(*types.Interface)
	}
	newClass := kit.Scope().Lookup("NewClass")
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				c.passed(e, info, n)
			case *ast.Ident:
				made, ok := info.Instances[n]
				if !ok || newClass == nil || n.Name != newClass.Name() {
					return true
				}
				class, ok := made.TypeArgs.At(0).(*types.Named)
				if !ok {
					return true
				}
				for method := range class.Methods() {
					c.encodes(e, method.Pos(), method.Signature())
				}
			}
			return true
		})
	}
}

// passed looks at the functions that a call passes as interfaces.
func (c *checker) passed(e encoder, info *types.Info, call *ast.CallExpr) {
	called, ok := info.TypeOf(call.Fun).(*types.Signature)
	if !ok || called.Params().Len() == 0 {
		return // a conversion or a built-in function, or no parameters
	}
	last := called.Params().Len() - 1
	for i, argument := range call.Args {
		parameter := called.Params().At(min(i, last)).Type()
		if list, ok := parameter.(*types.Slice); ok && called.Variadic() && i >= last {
			parameter = list.Elem()
		}
		given := info.TypeOf(argument)
		if given == nil || !types.IsInterface(parameter) {
			continue
		}
		if function, ok := given.Underlying().(*types.Signature); ok {
			c.encodes(e, argument.Pos(), function)
		}
	}
}

// encodes says what of a function darwinkit has no encoding for.
func (c *checker) encodes(e encoder, at token.Pos, function *types.Signature) {
	for _, values := range []*types.Tuple{function.Params(), function.Results()} {
		for v := range values.Variables() {
			if !e.knows(v.Type()) {
				place := c.fset.Position(at)
				c.fault(place.Filename, place.Line,
					fmt.Sprintf("darwinkit has no type encoding for %s in %s, and panics; take a block as an objc.Object", v.Type(), function))
			}
		}
	}
}

// encoder knows the types that getTypeEncoding of darwinkit v0.5.0 has encodings
// for (objc/type_encodings.go).
type encoder struct{ handle *types.Interface }

func (e encoder) knows(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsComplex == 0 && u.Kind() != types.Uintptr
	case *types.Pointer:
		return e.knows(u.Elem())
	case *types.Array:
		return e.knows(u.Elem())
	case *types.Slice, *types.Map:
		return true
	case *types.Interface:
		return e.isHandle(t)
	case *types.Struct:
		if e.isHandle(t) {
			return true
		}
		for field := range u.Fields() {
			if !e.knows(field.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// isHandle reports whether a value of the type holds an object of Objective-C.
func (e encoder) isHandle(t types.Type) bool {
	return e.handle != nil && types.Implements(t, e.handle)
}
