package darwin

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native/nativetest"
)

// TestAMacsPlatformIsWhole: the file that puts a Mac's platform together, which no test
// here runs, gives each part that the common code does not, and asks the RDMA library
// in a child: else its calls, which may hang, are made in the daemon.
func TestAMacsPlatformIsWhole(t *testing.T) {
	is := is.New(t)
	file, err := parser.ParseFile(token.NewFileSet(), "new_darwin.go", nil, parser.SkipObjectResolution)
	is.NoErr(err)
	given, assigned, made := map[string]bool{}, map[string]bool{}, map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			kind, _ := n.Type.(*ast.Ident)
			if kind == nil {
				break
			}
			made[kind.Name] = true
			for _, element := range n.Elts {
				if field, ok := element.(*ast.KeyValueExpr); ok && kind.Name == "machine" {
					given[field.Key.(*ast.Ident).Name] = true
				}
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if field, ok := to.(*ast.SelectorExpr); ok {
					assigned[field.Sel.Name] = true
				}
			}
		}
		return true
	})
	for _, field := range []string{"clock", "kernel", "profile", "supervises", "verbs"} { // which have no value of their own, or one that may hang
		if !given[field] {
			t.Errorf("new_darwin.go does not give %s of the machine", field)
		}
	}
	is.True(made["childVerbs"])
	m := withoutC(nativetest.NewClock(time.Unix(0, 0)))
	common := reflect.ValueOf(m.platform(nobodyHeldOff))
	for field, value := range common.Fields() {
		if field.Type.Kind() == reflect.Interface && value.IsZero() && !assigned[field.Name] {
			t.Errorf("new_darwin.go does not give the platform its %s", field.Name)
		}
	}
}
