package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/schematest"
)

// Where what uses the types is kept, and the compiler that the dashboard pins.
const (
	scriptFolder = "testdata/typescript"
	compilerFile = "../../../assets/dashboard/node_modules/typescript/lib/tsc.js"
)

// The types compile, let through what is right and refuse what is wrong, and
// fit every golden file of what a client meets, excess fields included. A golden
// value that is spoiled does not compile, so the compiler does look.
func TestTypeScriptTypes(t *testing.T) {
	node, compiler := findCompiler(t)
	is := is.New(t)
	files := map[string]string{
		"types.ts":  string(readContract(t).typeScript()),
		"use.ts":    string(readFile(t, filepath.Join(scriptFolder, "use.ts"))),
		"golden.ts": importTypes + strings.Join(goldenStatements(t), ""),
	}
	for name, change := range map[string][2]string{
		"another_type": {`"pid": 2`, `"pid": "2"`}, "another_word": {`"pressure": "normal"`, `"pressure": "fine"`},
		"another_field": {`"sub": "s1"`, `"sub": "s1", "more_of_it": 1`}, "a_field_less": {`"measurement": "m4k2m9xq7"`, ``},
	} {
		at := slices.IndexFunc(goldenStatements(t), func(s string) bool { return strings.Contains(s, change[0]) })
		is.True(at >= 0) // there is something to spoil
		files["spoiled_"+name+".ts"] = importTypes + strings.Replace(goldenStatements(t)[at], change[0], change[1], 1)
	}
	dir := t.TempDir()
	for name, text := range files {
		is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	out := compile(t, node, compiler, dir, slices.Sorted(maps.Keys(files)))
	refused := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+\.ts)\(\d+,\d+\): error`).FindAllStringSubmatch(out, -1) {
		refused[m[1]] = true
	}
	for name := range files {
		if refused[name] != strings.HasPrefix(name, "spoiled_") {
			t.Errorf("%s is refused: %v\n%s", name, refused[name], out)
		}
	}
}

// importTypes begins a file that uses the types.
const importTypes = "import type * as api from \"./types\";\n"

// goldenStatements give every golden value its type.
func goldenStatements(t *testing.T) []string {
	t.Helper()
	var out []string
	add := func(typ string, value any) {
		raw, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("export const v%d: %s = %s;\n", len(out), typ, raw))
	}
	golden := func(name string) any {
		value, err := schematest.Parse(readFile(t, apiFolder+"/testdata/golden/"+name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	spec := golden("job_spec")
	for _, m := range api.Methods() {
		parts := golden("method_" + m.Name).(map[string]any)
		withJobSpec(parts, spec)
		add(fmt.Sprintf("api.Params<%q>", m.Name), parts["params"])
		add(fmt.Sprintf("api.Result<%q>", m.Name), parts["result"])
	}
	for _, note := range api.Notifications() {
		value := golden("notification_" + note.Name)
		withJobSpec(value, spec)
		add(fmt.Sprintf("api.Notifications[%q]", note.Name), value)
	}
	for _, k := range api.Kinds() {
		add(fmt.Sprintf("api.DocumentOf<%q>", k.Kind), golden("kind_"+string(k.Kind)))
	}
	for _, code := range api.Codes() {
		add("api.Error", golden("error_"+code.String()))
	}
	add("api.Request", golden("message_request"))
	add("api.Response", golden("message_response_error"))
	add("api.APIAddress", golden("file_api"))
	return out
}

// withJobSpec puts a real spec where the samples have any JSON.
func withJobSpec(value, spec any) {
	walk(value, nil, func(path []string, get func() any, set func(any)) {
		if path[len(path)-1] == "spec" {
			set(spec)
		}
	})
}

// compile gives what the compiler says.
func compile(t *testing.T, node, compiler, dir string, files []string) string {
	t.Helper()
	args := append([]string{compiler, "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "--target", "es2022",
		"--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022"}, files...)
	cmd := exec.CommandContext(t.Context(), node, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("the compiler refuses nothing, not even what was spoiled")
	}
	return string(out)
}

// findCompiler gives Node and the dashboard's compiler; without either the test is
// skipped.
func findCompiler(t *testing.T) (node, compiler string) {
	t.Helper()
	node = lookTool(t, "node")
	compiler, err := filepath.Abs(compilerFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(compiler); err != nil {
		t.Skipf("there is no TypeScript compiler, which make build fetches for the dashboard: %v", err)
	}
	return node, compiler
}

// lookTool finds a program in the build folder or on the machine.
func lookTool(t *testing.T, name string) string {
	t.Helper()
	if own, err := filepath.Abs("../../../build/tools/bin/" + name); err == nil {
		if _, err := exec.LookPath(own); err == nil {
			return own
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on this machine", name)
	}
	return path
}
