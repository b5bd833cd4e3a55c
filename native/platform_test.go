package native_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

// leftOut are the parts that a platform does without, and why.
var leftOut = map[string]map[string]string{
	"darwin": {},
	"linux":  {"Power": "Fulmen reads no notices of sleep on Linux"},
}

// A part that a platform does not set refuses everything, which no compiler and no
// simulation notices: the simulation lends the parts of the system it runs on. The
// sources are read as the platform's own compiler takes them, wherever this runs.
func TestPlatformsAreComplete(t *testing.T) {
	for system, without := range leftOut {
		t.Run(system, func(t *testing.T) {
			is := is.New(t)
			set, err := partsSet(system)
			is.NoErr(err)
			for _, part := range parts() {
				isSet := slices.Contains(set, part)
				if reason, isLeftOut := without[part]; isSet == isLeftOut {
					t.Errorf("%s: set in the source: %t; left out on purpose: %t (%s)", part, isSet, isLeftOut, reason)
				}
			}
		})
	}
}

// parts are the names of a platform's parts.
func parts() (names []string) {
	for field := range reflect.TypeFor[native.Platform]().Fields() {
		if field.Type.Kind() == reflect.Interface {
			names = append(names, field.Name)
		}
	}
	return names
}

// partsSet gives the parts that the package of a system sets: keys of a literal
// native.Platform, and fields that are assigned to.
func partsSet(system string) (set []string, err error) {
	at := build.Default
	at.GOOS, at.GOARCH, at.CgoEnabled = system, "arm64", true
	pkg, err := at.ImportDir(system, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(pkg.GoFiles, pkg.CgoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(system, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				set = append(set, keysOfPlatform(n)...)
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if field, is := left.(*ast.SelectorExpr); is {
						set = append(set, field.Sel.Name)
					}
				}
			}
			return true
		})
	}
	return set, nil
}

func keysOfPlatform(literal *ast.CompositeLit) (keys []string) {
	if of, is := literal.Type.(*ast.SelectorExpr); !is || of.Sel.Name != "Platform" {
		return nil
	}
	for _, element := range literal.Elts {
		if pair, is := element.(*ast.KeyValueExpr); is {
			keys = append(keys, pair.Key.(*ast.Ident).Name)
		}
	}
	return keys
}
