package rules

import (
	"testing"

	"github.com/matryer/is"
)

func TestListed(t *testing.T) {
	is := is.New(t)
	document := []line{
		{1, "| `before` | no |"}, {2, "<!-- exposed: network -->"}, {3, "| package | what |"}, {4, "| `daemon/api` | types |"},
		{5, "a `word` | in a sentence |"}, {6, "| `github.com/a/b` | more |"}, {7, "<!-- end -->"}, {8, "| `after` | no |"},
		{9, "<!-- exposed: machine -->"}, {10, "| `other` | no |"},
	}
	named := listed(document, "network")
	is.Equal(named, map[string]int{"daemon/api": 4, "github.com/a/b": 6})
	is.Equal(len(listed(document, "nobody")), 0)

	e := exposed{list: "network"}
	is.Equal(len(e.differences(map[string]bool{"daemon/api": true, "github.com/a/b": true}, named)), 0)
	wrong := e.differences(map[string]bool{"daemon/api": true, "native/new": true}, named)
	is.Equal(len(wrong), 2)
	is.Equal(wrong[0].What, "native/new is not in the list network, though strangers' bytes come to it")
	is.Equal(wrong[1].Line, 6)
}

func TestModuleOf(t *testing.T) {
	is := is.New(t)
	is.Equal(moduleOf("github.com/a/b/internal/c"), "github.com/a/b")
	is.Equal(moduleOf("golang.org/x/sys/unix"), "golang.org/x/sys")
	is.Equal(moduleOf("short/path"), "short/path")
}
