package jobfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestDocsHaveJobsThatWork reads the files that the documentation shows.
func TestDocsHaveJobsThatWork(t *testing.T) {
	found := 0
	for _, page := range []string{"jobs.md", "from-mlx-launch.md"} {
		is := is.New(t)
		content, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		is.NoErr(err)
		for _, part := range strings.Split(string(content), "```toml\n")[1:] {
			text, _, _ := strings.Cut(part, "```")
			_, err := Parse(page, text, func(string) (api.NodeID, error) { return studio, nil })
			is.NoErr(err)
			found++
		}
	}
	if found < 2 {
		t.Fatalf("%d examples were found", found)
	}
}
