package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

// userPages are the pages whose commands are run, in the order in which they are: those
// that come first make the cluster of those after them.
var userPages = []string{
	"get-started.md", "programs.md", "jobs.md", "from-mlx-launch.md", "rdma.md", "../README.md", "from-exo.md",
	"troubleshooting.md", "security.md", "install.md", "api.md", "dashboard.md", "measuring.md", "scale.md",
}

// reasons are the marks of commands that are not run here, a comment before the block.
var reasons = []string{"on a Mac", "as root", "by hand"}

// shown is a command of a page, with what the page says that it prints: "..." there stands
// for anything.
type shown struct {
	where, text, prints string
	// reason is why it is not run here; empty: it is.
	reason string
}

var (
	blockMark  = regexp.MustCompile(`^<!-- (.*) -->$`)
	shellNote  = regexp.MustCompile(` +# .*$`)
	inlineText = regexp.MustCompile("`(fulmen [^`]+)`")
	spoken     = regexp.MustCompile(`[A-Z]{3,}`) // LINK, NAME, JOB
)

// commandsOf gives the commands of a page's blocks, in their order. A block is indented, or
// fenced as sh or console; in one with "$ " before its commands all else is what they print.
func commandsOf(t *testing.T, page string) (all []shown) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	must(t, page, err)
	before, language, reason := "", "", ""
	fenced, begun := false, false
	for i, line := range strings.Split(string(text), "\n") {
		rest, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced, begun = !fenced, false
			language = line[3:]
		case fenced && language != "sh" && language != "console", fenced && strings.HasPrefix(before, "<!-- client: "):
		case fenced || indented && strings.TrimSpace(line) != "":
			if fenced {
				rest = line
			}
			if !begun {
				reason = ""
				if found := blockMark.FindStringSubmatch(before); found != nil {
					reason = found[1]
				}
				begun = true
			}
			command, isCommand := strings.CutPrefix(rest, "$ ")
			if fenced && language == "console" && !isCommand {
				all[len(all)-1].prints += rest + "\n"
				continue
			}
			all = append(all, shown{where: fmt.Sprintf("docs/%s:%d", page, i+1), text: shellNote.ReplaceAllString(command, ""), reason: reason})
		case strings.TrimSpace(line) == "":
		default:
			begun = false
		}
		if line != "" && !begun && !fenced {
			before = line
		}
	}
	return all
}

// TestCommandsOfThePages runs the commands that the pages for users show, as somebody who
// reads them from top to bottom would, at a cluster of simulated Macs. What cannot be run
// here is marked on the page; that it can be typed is checked where the commands are.
func TestCommandsOfThePages(t *testing.T) {
	t.Parallel()
	marked, total := map[string]int{}, 0
	pages := map[string][]shown{}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	must(t, "the Makefile", err)
	for _, page := range userPages {
		for _, c := range commandsOf(t, page) {
			total++
			switch {
			case c.reason != "" && slices.Contains(reasons, c.reason):
				marked[c.reason]++
				if words := strings.Fields(c.text); words[0] == "make" && !strings.Contains(string(makefile), "\n"+words[1]+":") {
					t.Errorf("%s: make has no %s", c.where, words[1])
				}
			case c.reason != "":
				t.Errorf("%s: %q is no reason", c.where, c.reason)
			case !strings.HasPrefix(c.text, "fulmen "):
				t.Errorf("%s: %q is neither a command of fulmen nor marked with why it is not run", c.where, c.text)
			default:
				pages[page] = append(pages[page], c)
			}
		}
	}
	t.Logf("%d commands in blocks; not run: %v", total, marked)
	needJobs(t)
	w := newWalk(t)
	for _, page := range userPages {
		t.Run(page, func(t *testing.T) {
			w.open(t, page)
			for _, c := range pages[page] {
				w.run(t, c)
			}
			w.look(t, page)
		})
	}
}

// walk is somebody who follows the pages.
type walk struct {
	*jobs
	// others are Macs that have not joined yet.
	others  []string
	pairing *live
	// job is the last one that was begun.
	job  string
	seen map[string]bool
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	s := newStage(t)
	s.needPython(t)
	s.buildFulmen()
	scenario := filepath.Join(s.Folder, "docs.toml")
	must(t, "the scenario", testcluster.Link(filepath.Join("testdata", "scenarios", "docs.toml"), scenario, false))
	w := &walk{jobs: s.cluster(t, scenario, []string{"mac-studio"}, unhurried), others: []string{"mac-mini", "mac-studio-2", "mbp"}, seen: map[string]bool{}}
	write := func(name, text string, mode os.FileMode) {
		must(t, name, os.WriteFile(name, []byte(text), mode))
	}
	write(filepath.Join(s.Work, "train.py"), "import mlx.core as mx\nmx.distributed.init()\n", 0o644)
	write(filepath.Join(s.Venv, "bin", "mlx_lm.server"), "#!/bin/sh\n", 0o755)
	return w
}

// open puts there what a page begins with.
func (w *walk) open(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	must(t, page, err)
	for _, found := range regexp.MustCompile(`<!-- program: (\S+) -->`).FindAllStringSubmatch(string(text), -1) {
		example(t, page, found[1], w.Work)
	}
	if page == "rdma.md" { // from where it begins
		w.run(t, shown{where: page, text: "fulmen rdma undo --all-ready"})
	}
}

// run runs a command as it is typed, and compares what it prints.
func (w *walk) run(t *testing.T, c shown) {
	t.Helper()
	switch c.text {
	case "fulmen pair":
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		t.Cleanup(cancel)
		w.pairing = begin(t, w.fulmen(ctx, w.Nodes[0], "pair"))
		return
	case "fulmen join":
		w.join(t)
		return
	}
	w.exec(t, c)
	if strings.HasPrefix(c.text, "fulmen rdma enable") && !strings.Contains(c.text, "--dry-run") {
		w.unbridged(t)
	}
}

// unbridged waits, as long as somebody takes to read on, until every node reaches another
// by the interface of a cable and none by the Thunderbolt Bridge, out of which it was taken:
// before, a job may be placed on what is about to go, or find no place.
func (w *walk) unbridged(t *testing.T) {
	t.Helper()
	for _, n := range w.Nodes {
		documents(t, n.Mac, n.Client, "paths by cables alone", after, api.StateSelect{Kinds: []api.Kind{api.KindReach}}, func(v *client.View) bool {
			cables := map[api.NodeID]bool{}
			for _, d := range v.Docs() {
				var reach api.Reach
				if d.Decode(&reach) != nil || reach.State != api.PathActive {
					continue
				}
				if reach.Interface == "bridge0" || reach.PeerInterface == "bridge0" {
					return false
				}
				cables[d.Node] = cables[d.Node] || reach.Interface != "en0"
			}
			return !slices.ContainsFunc(w.Nodes, func(n *testcluster.Node) bool { return !cables[n.ID] })
		})
	}
}

// exec runs a command of a shell at the first Mac.
func (w *walk) exec(t *testing.T, c shown) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	free, err := testcluster.Listen() // what the page calls 8080 may be taken here
	must(t, "a port", err)
	must(t, "a port", free.Close())
	_, port, _ := strings.Cut(free.Addr().String(), ":")
	line := strings.NewReplacer("JOB", w.job, "8080", port).Replace(c.text)
	cmd := w.Nodes[0].Command(ctx, "/bin/sh", "-c", line)
	cmd.Dir = w.Work
	cmd.Env = append(cmd.Env, "PATH="+w.Bin+string(os.PathListSeparator)+os.Getenv("PATH"), "VIRTUAL_ENV="+w.Venv)
	got := end(t, cmd)
	if got.status != 0 {
		t.Errorf("%s: %s: status %d\n%s%s", c.where, line, got.status, got.out, got.err)
	}
	if id, err := api.ParseJobID(strings.TrimSpace(got.out)); err == nil {
		w.job = string(id)
	}
	for reported := range strings.Lines(c.prints) { // ranks print in any order
		pattern := strings.ReplaceAll(regexp.QuoteMeta(reported), `\.\.\.`, `.*`)
		if !regexp.MustCompile(`(?m)^` + pattern).MatchString(got.out) {
			t.Errorf("%s: %s: no line is %q in\n%s%s", c.where, line, reported, got.out, got.err)
		}
	}
}

// join has one more Mac join the cluster by the code that is shown, and its people
// answer what they are asked afterwards.
func (w *walk) join(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	code := regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}`)
	reported := w.pairing.until(t, "code", code.MatchString)
	n, err := w.Add(ctx, w.others[0])
	must(t, "one more Mac", err)
	w.others = w.others[1:]
	joining := w.fulmen(ctx, n, "join")
	joining.Stdin = strings.NewReader(code.FindString(reported) + "\n")
	if got := end(t, joining); got.status != 0 {
		t.Fatalf("fulmen join: status %d\n%s%s", got.status, got.out, got.err)
	}
	if got := w.pairing.status(t, timeout); got != 0 {
		t.Errorf("fulmen pair: status %d", got)
	}
	must(t, "a cluster", w.Whole(ctx))
	must(t, "lending", testcluster.Lend(ctx, n.Client, w.Account.Name))
	_, err = client.Call[api.Sharing](ctx, n.Client, "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})
	must(t, "allowing", err)
}

// looks are the commands that only look, which are run where a page has them in a sentence.
var looks = []string{
	"status", "doctor", "logs", "report", "peers", "nodes", "topology", "links", "env", "jobs", "users", "sharing",
	"config", "events", "rdma", "pending", "version",
}

// look runs, once each, what a page's sentences name and what changes nothing.
func (w *walk) look(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	must(t, page, err)
	for _, found := range inlineText.FindAllStringSubmatch(string(text), -1) {
		words := strings.Fields(found[1])
		if !slices.Contains(looks, words[1]) || len(words) > 2 && !strings.HasPrefix(words[2], "-") || spoken.MatchString(found[1]) || w.seen[found[1]] {
			continue
		}
		w.seen[found[1]] = true
		w.exec(t, shown{where: "docs/" + page, text: found[1]})
	}
}
