package pack

import (
	"testing"

	"github.com/matryer/is"
)

func TestTheHeaviestFoldersAreNamed(t *testing.T) {
	is := is.New(t)
	w := weights{}
	for _, f := range []struct {
		name  string
		bytes int64
	}{
		{"data", -1}, {"data/models", -1}, {"data/models/llama", -1}, {"data/models/llama/w1", 500}, {"data/models/llama/w2", 400}, {"data/small", 10},
		{"runs", -1}, {"runs/1", -1}, {"runs/2", -1}, {"runs/1/a", 300}, {"runs/2/a", 300}, {"src", -1}, {"src/a", 1}, {"src/b", 1}, {"docs", -1}, {"README", 900}, {"img", -1}, {"img/x", 5},
	} {
		w.add(f.name, f.bytes < 0, max(f.bytes, 0))
	}
	is.Equal(w.heaviest(func(x weight) int64 { return x.bytes }), []string{"data/models/llama", "runs", "img"})
}
