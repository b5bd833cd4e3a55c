package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/schematest"
)

// fence is a fenced block of a page; client is the file's name that the comment
// above gives, empty where there is none.
type fence struct{ client, language, text string }

func fences(page string) []fence {
	var out []fence
	for _, m := range regexp.MustCompile("(?s)(?:<!-- client: (\\S+) -->\n)?```(\\w+)\n(.*?)```\n").FindAllStringSubmatch(page, -1) {
		out = append(out, fence{m[1], m[2], m[3]})
	}
	return out
}

// Every link into the reference leads somewhere.
func TestPageLinks(t *testing.T) {
	page, reference := string(readFile(t, pageFile)), string(readFile(t, "../../../docs/reference.md"))
	links := regexp.MustCompile(`reference\.md#([a-z0-9-]+)`).FindAllStringSubmatch(page, -1)
	if len(links) < len(api.Methods()) {
		t.Errorf("only %d links", len(links))
	}
	for _, m := range links {
		heading := "# " + strings.ToUpper(m[1][:1]) + m[1][1:] + "\n"
		if !strings.Contains(reference, `<a id="`+m[1]+`">`) && !strings.Contains(reference, heading) {
			t.Errorf("a link leads to %s, which is not in the reference", m[1])
		}
	}
}

func TestPageAdvisesOnEveryCode(t *testing.T) {
	is := is.New(t)
	is.Equal(len(advice()), len(api.Codes()))
	for _, code := range api.Codes() {
		is.True(advice()[code] != "")
	}
}

// The messages that the page shows whole are messages of this API.
func TestPageMessages(t *testing.T) {
	v := readSchema(t)
	whole := 0
	for _, f := range fences(string(readFile(t, pageFile))) {
		if f.language != "json" {
			continue
		}
		for line := range strings.Lines(f.text) {
			value, err := schematest.Parse([]byte(line))
			if err != nil {
				if !strings.Contains(line, "...") {
					t.Errorf("not JSON, and nothing is left out: %s", line)
				}
				continue
			}
			whole++
			if err := v.Check(v.Root, value, "$"); err != nil {
				t.Errorf("%v: %s", err, line)
			}
			message := value.(map[string]any)
			row := v.row("x-methods", "x-notifications", message["method"].(string))
			if err := v.Check(row["params"], message["params"], "params"); err != nil {
				t.Errorf("%v: %s", err, line)
			}
		}
	}
	if whole < 3 {
		t.Errorf("only %d messages are shown whole", whole)
	}
}

// The clients call methods that there are, and their interpreters take them.
func TestPageClients(t *testing.T) {
	is := is.New(t)
	checks := map[string][]string{
		".py": {"python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"}, ".mjs": {"node", "--check"}, ".sh": {"sh", "-n"},
	}
	calls := regexp.MustCompile(`call\("([^"]+)"`)
	seen := map[string]bool{}
	for _, f := range fences(string(readFile(t, pageFile))) {
		if f.client == "" {
			continue
		}
		extension := filepath.Ext(f.client)
		seen[extension] = true
		for _, m := range calls.FindAllStringSubmatch(f.text, -1) {
			if _, ok := api.LookupMethod(m[1]); !ok {
				t.Errorf("%s calls %s, which is no method", f.client, m[1])
			}
		}
		file := filepath.Join(t.TempDir(), f.client)
		is.NoErr(os.WriteFile(file, []byte(f.text), 0o600))
		check := checks[extension]
		t.Run(f.client, func(t *testing.T) {
			args := append(append([]string{}, check[1:]...), file)
			if out, err := exec.CommandContext(t.Context(), lookTool(t, check[0]), args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	is.Equal(len(seen), len(checks)) // one in each language
}
