package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestErrorIsAndAs(t *testing.T) {
	is := is.New(t)
	e := NewError(ReasonLinkTooSlow, "A:1~B:3")
	wrapped := fmt.Errorf("placing: %w", e)
	is.True(errors.Is(wrapped, CodePrecondition))
	is.True(errors.Is(wrapped, ReasonLinkTooSlow))
	is.True(!errors.Is(wrapped, CodeInvalid))
	is.True(!errors.Is(wrapped, ReasonNoPath))
	is.Equal(AsError(wrapped), e)
	is.True(strings.HasPrefix(e.Error(), "A:1~B:3: The cable negotiated"))
	is.True(strings.Contains(e.Error(), e.Data.Remedy))

	sum := NewError(ReasonNoBackend, "")
	sum.Data.Causes = []Cause{e.Cause()}
	is.True(errors.Is(sum, ReasonLinkTooSlow)) // also found among the causes
	is.Equal(sum.Data.Causes[0].Remedy, e.Data.Remedy)

	private := AsError(errors.New("open /Users/ada/secret"))
	is.Equal(private.Code, CodeInternal)
	is.True(!strings.Contains(private.Error(), "ada")) // private text does not leave
	is.Equal(AsError(nil), nil)
	is.Equal(NewError("no_such_reason", "").Code, CodeInternal)
}

func TestErrorOverJSONRPC(t *testing.T) {
	is := is.New(t)
	e := sampleError(CodeDeadline)
	raw, err := json.Marshal(e.Response())
	is.NoErr(err)
	var back ResponseError
	is.NoErr(json.Unmarshal(raw, &back))
	is.Equal(*back.Err(), e)
	for rpc, want := range map[int]struct {
		code   Code
		reason Reason
	}{
		RPCParseError:     {CodeInvalid, ReasonMalformedMessage},
		RPCInvalidRequest: {CodeInvalid, ReasonMalformedMessage},
		RPCMethodNotFound: {CodeNotFound, ReasonUnknownMethod},
		RPCInvalidParams:  {CodeInvalid, ReasonBadValue},
		RPCInternalError:  {CodeInternal, ReasonInternal},
		0:                 {CodeInternal, ReasonInternal},
		99:                {CodeInternal, ReasonInternal},
	} {
		got := (&ResponseError{Code: rpc}).Err()
		is.Equal(got.Code, want.code)
		is.Equal(got.Data.Reason, want.reason)
	}
	for _, code := range Codes() {
		is.Equal(CodeOfRPC(int(code)), code)
	}
}

func TestCodes(t *testing.T) {
	is := is.New(t)
	want := "invalid not_found conflict denied unauthenticated unreachable deadline exhausted precondition unsupported cancelled internal"
	names := []string{}
	for i, code := range Codes() {
		is.Equal(int(code), i+1)
		names = append(names, code.String())
	}
	is.Equal(strings.Join(names, " "), want)
	is.Equal(Code(13).String(), "code_13")
}

// The table of reasons is complete, has no row twice, and reads well.
func TestReasons(t *testing.T) {
	is := is.New(t)
	listed := map[Reason]bool{}
	for _, info := range Reasons() {
		is.True(isSnakeCase(string(info.Reason)))
		is.True(!listed[info.Reason]) // once only
		listed[info.Reason] = true
		for _, text := range []string{info.Text, info.Remedy} {
			if text != "" && (!strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] && !strings.HasPrefix(text, "macOS") && text[0] != '`') {
				t.Errorf("%s: %q is not a sentence", info.Reason, text)
			}
		}
		is.True(info.Text != "")
		is.True(info.Severity == "" || info.Severity.Valid())
		is.True(info.Code >= 0 && info.Code <= CodeInternal)
	}
	constants := map[Reason]bool{}
	for _, value := range constantsOf(t, "Reason") {
		constants[Reason(value)] = true
		is.True(listed[Reason(value)]) // every constant has its row
	}
	is.Equal(len(constants), len(listed))
}

// constantsOf reads from the source the values of a type's string constants.
func constantsOf(t *testing.T, typeName string) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var values []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if ident, ok := spec.Type.(*ast.Ident); ok && ident.Name == typeName {
				if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
					values = append(values, strings.Trim(lit.Value, `"`))
				}
			}
			return true
		})
	}
	return values
}
