package daemon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/darwin"
)

// TestAMacsPlatformHasItsOptions: the file for macOS, which no test here runs, leaves
// no option out; and the child that asks the RDMA library is a command of fulmend.
// Without the option that library, whose calls may hang, is called in the daemon.
func TestAMacsPlatformHasItsOptions(t *testing.T) {
	is := is.New(t)
	file, err := parser.ParseFile(token.NewFileSet(), "platform_darwin.go", nil, parser.SkipObjectResolution)
	is.NoErr(err)
	given := map[string]ast.Expr{}
	ast.Inspect(file, func(n ast.Node) bool {
		if field, ok := n.(*ast.KeyValueExpr); ok {
			if name, ok := field.Key.(*ast.Ident); ok {
				given[name.Name] = field.Value
			}
		}
		return true
	})
	for field := range reflect.TypeFor[darwin.Options]().Fields() {
		if given[field.Name] == nil {
			t.Errorf("platform_darwin.go does not say %s of darwin.Options", field.Name)
		}
	}
	arguments, ok := given["Verbs"].(*ast.CompositeLit)
	is.True(ok && len(arguments.Elts) == 1)
	command, ok := arguments.Elts[0].(*ast.BasicLit)
	is.True(ok)
	word, err := strconv.Unquote(command.Value)
	is.NoErr(err)
	main, err := os.ReadFile("../cmd/fulmend/main.go")
	is.NoErr(err)
	is.True(strings.Contains(string(main), "case "+strconv.Quote(word)+":"))
}
