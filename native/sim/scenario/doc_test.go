package scenario

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestTheDocumentedFormatIsRead parses the example of the package comment, which
// shows every key, so that it cannot go stale.
func TestTheDocumentedFormatIsRead(t *testing.T) {
	is := is.New(t)
	source, err := os.ReadFile("doc.go")
	is.NoErr(err)
	var example strings.Builder
	for line := range strings.Lines(string(source)) {
		if line == "//\n" {
			example.WriteString("\n")
		} else if text, ok := strings.CutPrefix(line, "//\t"); ok {
			example.WriteString(text)
		}
	}
	// The second Mac, which the example names and does not repeat.
	example.WriteString("[[mac]]\nname = \"studio-2\"\nlike = \"mac-studio-m3-ultra\"\n" +
		"[[cable]]\nends = [\"dock.1\", \"studio-2.tb1\"]\n")
	s, err := Parse("example.toml", []byte(example.String()))
	is.NoErr(err)
	is.Equal(len(s.Macs), 2)
	is.Equal(s.Macs[0].Identity.Name, "Studio 1")
	is.Equal(s.Macs[0].MemoryBytes, int64(512<<30))
	is.Equal(s.Hubs[0].Downstream, 3)
	is.Equal(s.Measurements.Links[0].JitterUS, 2.0)
	is.Equal(len(s.TimeLine), 1)

	// Every key that is read is shown.
	for _, kind := range []string{"mac", "network", "hub", "cable", "gpu", "link", "at"} {
		_, err := Parse("x.toml", []byte("["+"["+kind+"]]\nzzzzzzzz = 1\n"))
		is.True(err != nil)
		_, list, found := strings.Cut(err.Error(), `unknown key "zzzzzzzz"; it is one of [`)
		is.True(found)
		list, _, _ = strings.Cut(list, "]")
		for key := range strings.FieldsSeq(list) {
			shown := strings.Contains(example.String(), "\n"+key+" = ") || strings.Contains(example.String(), "[[mac."+key+"]]")
			if !shown {
				t.Errorf("key %s of %s is not in the package comment", key, kind)
			}
		}
	}
}
