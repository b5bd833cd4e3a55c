package ignore

import (
	"testing"

	"github.com/matryer/is"
)

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		text, path string
		folder     bool
		want       bool
	}{
		{"*.o", "a.o", false, true},
		{"*.o", "deep/down/a.o", false, true},
		{"/*.o", "deep/a.o", false, false},
		{"build/", "build", true, true},
		{"build/", "build", false, false},
		{"a/b", "x/a/b", false, false},
		{"**/b", "x/a/b", false, true},
		{"a/**/b", "a/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"a/**", "a", true, false},
		{"a/**", "a/b", false, true},
		{"a*/c", "ab/x/c", false, false},
		{"*.log\n!keep.log", "keep.log", false, false},
		{"!keep.log\n*.log", "keep.log", false, true},
		{`\#x`, "#x", false, true},
		{"#x", "#x", false, false},
		{`\!x`, "!x", false, true},
		{"x  ", "x", false, true},
		{`x\ `, "x ", false, true},
		{`x\\ `, `x\`, false, true},
		{"[!a-c]x", "dx", false, true},
		{"[!a-c]x", "bx", false, false},
		{"[]-]", "]", false, true},
		{"[[:digit:]x]", "7", false, true},
		{"[[:nothing:]]", "n", false, false},
		{"[a", "[a", false, false},
		{`x\`, `x\`, false, false},
		{"a\r\nb", "a", false, true},
		{"\ufeffa", "a", false, true},
		{"/", "a", false, false},
		{"!", "a", false, false},
		{"a//b", "a/b", false, false},
	} {
		t.Run(test.text+" "+test.path, func(t *testing.T) {
			is.New(t).Equal(Parse(nil, "", []byte(test.text)).Excludes(test.path, test.folder), test.want)
		})
	}
}

func TestTheNearerFileCounts(t *testing.T) {
	is := is.New(t)
	root := Parse(nil, "", []byte("*.bin\n/sub/x\n"))
	sub := Parse(root, "sub", []byte("!/kept.bin\n/only\n"))
	is.True(!sub.Excludes("sub/kept.bin", false))
	is.True(sub.Excludes("sub/deep/kept.bin", false))
	is.True(sub.Excludes("sub/x", false))
	is.True(sub.Excludes("sub/only", false))
	is.True(!sub.Excludes("only", false))
	is.True(!(*Rules)(nil).Excludes("x", false))
}

// A pattern of many stars is not tried in every way.
func TestManyStarsTakeFewSteps(t *testing.T) {
	is := is.New(t)
	name, pattern, path := "", "", ""
	for range 200 {
		name, pattern, path = name+"a", pattern+"*a", path+"a/"
	}
	is.True(!Parse(nil, "", []byte(pattern+"b")).Excludes(name, false))
	deep := ""
	for range 200 {
		deep += "**/a/"
	}
	is.True(!Parse(nil, "", []byte(deep+"b")).Excludes(path+"c", false))
}
