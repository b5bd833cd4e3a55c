package prepare

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestPlacePath(t *testing.T) {
	for _, test := range []struct{ name, from, to, path, want string }{
		{"below", "/Users/me", "/Users/ada", "/Users/me/work/train.py", "/Users/ada/work/train.py"},
		{"itself", "/Users/me", "/Users/ada", "/Users/me", "/Users/ada"},
		{"with a slash", "/Users/me/", "/Users/ada", "/Users/me/work/", "/Users/ada/work/"},
		{"another's", "/srv/me", "/Users/ada", "/srv/mel/work", "/srv/mel/work"},
		{"elsewhere", "/Users/me", "/Users/ada", "/opt/work", "/opt/work"},
		{"out of it", "/Users/me", "/Users/ada", "/Users/me/../eve/x", "/Users/me/../eve/x"},
		{"out and in", "/Users/me", "/Users/ada", "/Users/me/./x/../y", "/Users/ada/./x/../y"},
		{"relative", "/Users/me", "/Users/ada", "work/train.py", "work/train.py"},
		{"the same home", "/Users/me", "/Users/me", "/Users/me/x/../y", "/Users/me/x/../y"},
		{"no home", "", "/Users/ada", "/Users/me/x", "/Users/me/x"},
		{"a relative home", "me", "/Users/ada", "me/x", "me/x"},
		{"the root as home", "/", "/Users/ada", "/etc/x", "/etc/x"},
		{"root as home here", "/Users/me", "/", "/Users/me/x", "/x"},
		{"a tilde", "/Users/me", "/Users/ada", "~/x", "/Users/ada/x"},
		{"a tilde alone", "", "/Users/ada", "~", "/Users/ada"},
		{"another's tilde", "/Users/me", "/Users/ada", "~eve/x", "~eve/x"},
		{"nothing", "/Users/me", "/Users/ada", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(NewPlace(test.from, test.to).Path(test.path), test.want)
		})
	}
}

func TestPlaceWords(t *testing.T) {
	is := is.New(t)
	p := NewPlace("/Users/me", "/Users/ada")
	for word, want := range map[string]string{
		"/Users/me/m":            "/Users/ada/m",
		"--model=/Users/me/m":    "--model=/Users/ada/m",
		"--model=me/m":           "--model=me/m",
		"x=/Users/me/m":          "x=/Users/me/m",
		"see /Users/me/m":        "see /Users/me/m",
		"~/x":                    "~/x",
		"/Users/me/i http://x//": "/Users/ada/i http://x//",
		"print('/Users/me')":     "print('/Users/me')",
		"https://x/Users/me/m":   "https://x/Users/me/m",
	} {
		is.Equal(p.Argument(word), want) // word
	}
	for value, want := range map[string]string{
		"/Users/me/a:/opt/b:/Users/me": "/Users/ada/a:/opt/b:/Users/ada",
		"/Users/me/a::":                "/Users/ada/a::",
		"host:/Users/me":               "host:/Users/me",
		"text":                         "text",
		"":                             "",
	} {
		is.Equal(p.Value(value), want) // value
	}
}

func TestPlaceProgram(t *testing.T) {
	is := is.New(t)
	p := NewPlace("/Users/me", "/Users/ada")
	given := api.Program{
		Command: []string{"/Users/me/bin/run", "/Users/me/data", "--to=/Users/me/out"}, Directory: "/Users/me/work",
		Interpreter: "/Users/me/py/bin/python", Environment: "~/venv", Prepare: []string{"uv", "sync", "/Users/me/x"}, PrepareInputs: []string{"uv.lock", "/Users/me/y"},
	}
	is.Equal(p.Program(given), api.Program{
		Command: []string{"/Users/ada/bin/run", "/Users/ada/data", "--to=/Users/ada/out"}, Directory: "/Users/ada/work",
		Interpreter: "/Users/ada/py/bin/python", Environment: "/Users/ada/venv", Prepare: []string{"uv", "sync", "/Users/ada/x"}, PrepareInputs: []string{"uv.lock", "/Users/ada/y"},
	})
	is.Equal(given.Command[0], "/Users/me/bin/run") // the spec itself stays
	is.Equal(p.Program(api.Program{Builtin: "allreduce", Command: []string{"/Users/me/x"}}).Command[0], "/Users/me/x")
	is.Equal(p.Program(api.Program{Prepare: []string{"cp /Users/me/x ."}}).Prepare[0], "cp /Users/me/x .")
}

func TestMoved(t *testing.T) {
	is := is.New(t)
	got := Moved(api.Program{
		Command: []string{"python", "/Users/me/work/train.py", "--to=/Users/me/out", "~/x"}, Directory: "/Users/me/work", Home: "/Users/me",
		Environment: "/Users/me/work/.venv", Interpreter: "~/py/bin/python", PrepareInputs: []string{"uv.lock", "/Users/me/work/x"},
	}, "/state/files/j1")
	is.Equal(got, api.Program{
		Command: []string{"python", "/state/files/j1/train.py", "--to=/Users/me/out", "~/x"}, Directory: "/state/files/j1", Home: "/Users/me",
		Environment: "/state/files/j1/.venv", Interpreter: "~/py/bin/python", PrepareInputs: []string{"uv.lock", "/state/files/j1/x"},
	})
	is.Equal(Moved(api.Program{Command: []string{"/Users/me/x"}}, "/state").Directory, "/state")
}
