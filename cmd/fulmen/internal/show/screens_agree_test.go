package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/app"
	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// drawnCluster is a cluster with its graph, as the screens get it.
type drawnCluster struct {
	seed testkit.Seed
	randomCluster
	daemon.Drawing
	conditions []api.NodeCondition
}

// What page, menu and command line say of every cable and network is what follows from the
// scenario, whatever warnings name it.
func TestScreensSayTheSameOfCables(t *testing.T) {
	count := 40
	if os.Getenv("FULMEN_SOAK") != "" {
		count = 2000
	}
	file := filepath.Join(t.TempDir(), "random.toml")
	var all []drawnCluster
	for seed := range testkit.Upto(t, count) {
		d := drawnCluster{seed: seed, randomCluster: newRandomCluster(seed.Source(1)), conditions: []api.NodeCondition{}}
		err := os.WriteFile(file, []byte(d.scenario()), 0o644)
		if err == nil {
			d.Drawing, err = daemon.DrawScenario(file, "1.0.0")
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, d.scenario())
		}
		d.Nodes[0].Self = true
		d.age(t, seed.Source(3))
		d.warn(seed.Source(2))
		d.check(t, "the menu", d.menu(), nil)
		d.check(t, "fulmen links", d.links(), nil)
		d.checkWays(t)
		d.checkTopology(t)
		all = append(all, d)
	}
	for i, shown := range pageOf(t, all) {
		all[i].check(t, "the page", shown, all[i].networkLines())
	}
}

// warn has every cable named by a condition that says nothing of how it is.
func (d *drawnCluster) warn(r *rand.Rand) {
	codes := []api.Reason{api.ReasonRDMAOneSided, api.ReasonRDMABuildsDiffer, api.ReasonRDMANoIPv4GID, api.ReasonRDMAPortSuspect, api.ReasonRDMAProbeFailed}
	for _, c := range d.Links.Cables {
		subject := choose(r.IntN(2) == 0, c.Link.String(), c.Ends[r.IntN(2)].End.String())
		d.conditions = append(d.conditions, api.NodeCondition{Node: c.Ends[0].End.Node, Condition: api.Condition{
			Code: codes[r.IntN(len(codes))], Severity: []api.Severity{api.SeverityWarning, api.SeverityError}[r.IntN(2)], Text: "Something else.", Subject: subject,
		}})
	}
}

// check compares what a screen says, by ids, with what it has to say of the cables and of
// the networks that it draws.
func (d *drawnCluster) check(t *testing.T, screen string, shown, networks map[string]line) {
	t.Helper()
	wanted := map[string]line{}
	maps.Copy(wanted, networks)
	for i := range d.cables {
		id, isTurned := d.idOf(&d.cables[i])
		want := d.wanted(&d.cables[i])
		if isTurned {
			want.there, want.back = want.back, want.there
		}
		wanted[id] = want
	}
	for id, want := range wanted {
		if got := shown[id]; got != want {
			t.Errorf("seed %d: %s says of %s\n  %+v, not\n  %+v", d.seed, screen, id, got, want)
		}
	}
	for id, got := range shown {
		if _, is := wanted[id]; !is {
			t.Errorf("seed %d: %s has %s, which is nothing:\n  %+v", d.seed, screen, id, got)
		}
	}
}

// idOf is a cable's id, and whether its first end is the second of the cluster's cable.
func (d *drawnCluster) idOf(c *randomCable) (id string, isTurned bool) {
	var ends [2]api.LinkEnd
	for i, e := range c.ends {
		ends[i] = api.LinkEnd{Node: d.Nodes[e.mac].Node, PortNumber: api.PortNumber(e.port + 1)}
	}
	link, _ := api.NewLinkID(ends[0], ends[1])
	return link.String(), link.Low != ends[0]
}

var (
	kinds = map[string]api.LinkKind{"RDMA": api.LinkRDMA, "TB5": api.LinkTB5, "TB4": api.LinkTB4, "TB3": api.LinkTB3, "Thunderbolt 3": api.LinkTB3, "Thunderbolt 5": api.LinkTB5, "Thunderbolt 4": api.LinkTB4,
		"Ethernet": api.LinkEthernet, "Wi-Fi": api.LinkWiFi, "VPN": api.LinkVPN}
	number   = regexp.MustCompile(`[\d.]+`)
	oneWay   = regexp.MustCompile(`\nmeasured .*RTT/2 (.*)`)
	manyGaps = regexp.MustCompile(`  +`)
)

// numberIn is a number with its unit as it stands in a text; 0 where there is none.
func numberIn(text string) float64 {
	n, _ := strconv.ParseFloat(number.FindString(text), 64)
	return n
}

// microsIn is a delay in a text, in µs.
func microsIn(text string) float64 {
	if strings.HasSuffix(text, "ms") {
		return 1000 * numberIn(text)
	}
	return numberIn(text)
}

// menu is what the menu says of the cables.
func (d *drawnCluster) menu() map[string]line {
	state := app.State{Daemon: app.DaemonRunning, Cables: d.Links.Cables, Conditions: d.conditions}
	for _, n := range d.Nodes {
		state.Nodes = append(state.Nodes, app.Node{NodeView: n})
	}
	shown := map[string]line{}
	for _, top := range app.Build(state).Items {
		for _, item := range top.Items {
			id, isCable := strings.CutPrefix(item.ID, "cable:")
			if top.ID != "cables" || !isCable {
				continue
			}
			l := line{verdict: api.VerdictGood}
			for words, verdict := range map[string]api.LinkVerdict{"slower than it should be": api.VerdictSlow, "does not work": api.VerdictBad, "carries nothing": api.VerdictDown} {
				if strings.HasSuffix(item.Title, words) {
					l.verdict = verdict
				}
			}
			for _, below := range item.Items {
				switch below.ID {
				case item.ID + ":reason":
					l.reason = below.Title
				case item.ID + ":measured":
					kind, numbers, _ := strings.Cut(below.Title, ": ")
					l.style = kinds[kind]
					for part := range strings.SplitSeq(numbers, ", ") {
						switch {
						case strings.HasSuffix(part, " there"):
							l.there = numberIn(part)
						case strings.HasSuffix(part, " back"):
							l.back = numberIn(part)
						case strings.HasSuffix(part, " one way"):
							l.rttUS = 2 * numberIn(part)
						}
					}
				}
			}
			shown[id] = l
		}
	}
	return shown
}

// links is what fulmen links and fulmen links LINK say of the cables.
func (d *drawnCluster) links() map[string]line {
	view, shown, names := View{}, map[string]line{}, NamesOf(d.Nodes)
	var page Page
	view.Links(&page, d.Links, d.Nodes)
	rows := strings.Split(page.String(), "\n")
	for _, c := range d.Links.Cables {
		at := slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, names.cable(c)+"  ") })
		if at < 0 {
			continue
		}
		cells := manyGaps.Split(rows[at], -1) // CABLE KIND SPEED MEASURED THROUGH RDMA VERDICT
		verdict, reason, _ := strings.Cut(strings.TrimSuffix(cells[6], " SIMULATED"), ": ")
		l := line{style: kinds[cells[1]], verdict: api.LinkVerdict(verdict)}
		if reason != "" {
			first, _, _ := strings.Cut(reason, "; ")
			l.reason = first + "."
		}
		if cells[5] == "ready" {
			l.style = api.LinkRDMA
		}
		if kind, speed, is := strings.Cut(cells[3], " "); is {
			there, back, differ := strings.Cut(speed, "/")
			l.there, l.back = numberIn(there), numberIn(choose(differ && back != "s", back, there))
			if kinds[kind] != l.style {
				l.style = "unlike its numbers"
			}
		}
		var one Page
		view.Link(&one, api.LinkGetResult{Cable: c}, d.Nodes)
		if delay := oneWay.FindStringSubmatch(one.String()); delay != nil {
			l.rttUS = 2 * numberIn(delay[1])
		}
		shown[c.Link.String()] = l
	}
	return shown
}

// checkTopology looks at both ends of every cable in the tree, and at the row of its Macs.
func (d *drawnCluster) checkTopology(t *testing.T) {
	t.Helper()
	var page Page
	View{}.Topology(&page, Topology{Nodes: d.Nodes, Docs: d.Docs, Links: d.Links})
	mac, port, lines, pairs := "", "", map[string]string{}, map[[2]string]string{}
	for row := range strings.SplitSeq(page.String(), "\n") {
		switch words := strings.Fields(row); {
		case row == "FROM" || len(words) == 0:
		case !strings.HasPrefix(row, " "):
			if mac = words[0]; len(words) > 2 {
				pairs[[2]string{words[0], words[1]}] = row
			}
		case words[0] == "port":
			port = words[1]
		}
		if _, to, is := strings.Cut(row, "-> m"); is {
			far, note, _ := strings.Cut("m"+to, " ")
			lines[mac+":"+port+" "+far] = note
		}
	}
	name := func(e randomEnd) string { return fmt.Sprintf("m%d:%d", e.mac, e.port+1) }
	for i := range d.cables {
		c := &d.cables[i]
		want := d.wanted(c)
		for _, ends := range [][2]randomEnd{{c.ends[0], c.ends[1]}, {c.ends[1], c.ends[0]}} {
			shown, is := lines[name(ends[0])+" "+name(ends[1])]
			if isNoted := strings.Contains(shown+" ", " "+string(want.verdict)+" "); !is || isNoted == (want.verdict == api.VerdictGood) || strings.Contains(shown+" ", " slow ") != (want.verdict == api.VerdictSlow) {
				t.Errorf("seed %d: fulmen topology says of %v %q, not %q", d.seed, ends, shown, want.verdict)
			}
			row := pairs[[2]string{fmt.Sprintf("m%d", ends[0].mac), fmt.Sprintf("m%d", ends[1].mac)}]
			row += pairs[[2]string{fmt.Sprintf("m%d", ends[1].mac), fmt.Sprintf("m%d", ends[0].mac)}]
			if noted := verdict(want.verdict, nil) + prefixed(": ", strings.TrimSuffix(want.reason, ".")); row == "" || want.verdict != api.VerdictGood && !strings.Contains(row, noted) {
				t.Errorf("seed %d: fulmen topology says of what joins %v %q, not %q", d.seed, ends, row, noted)
			}
		}
	}
}

// pageOf is what the dashboard draws of the cables of every cluster; none where what runs it
// is not here.
func pageOf(t *testing.T, clusters []drawnCluster) []map[string]line {
	t.Helper()
	dashboard, err := filepath.Abs("../../../../assets/dashboard")
	is := is.New(t)
	is.NoErr(err)
	if _, err := os.Stat(filepath.Join(dashboard, "node_modules/vite")); err != nil {
		t.Log("the dashboard's packages are not here: make deps fetches them")
		return nil
	}
	for _, folder := range []string{"src", "browser/lines"} {
		is.NoErr(testkit.WatchInputs(filepath.Join(dashboard, folder)))
	}
	var given bytes.Buffer
	for _, d := range clusters {
		is.NoErr(json.NewEncoder(&given).Encode(map[string]any{"nodes": d.Nodes, "links": d.Links, "conditions": d.conditions}))
	}
	node := filepath.Join(dashboard, "../../build/tools/bin/node")
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	run := exec.CommandContext(t.Context(), node, "--input-type=module", "--eval", `import { runnerImport } from "vite"; await runnerImport("./browser/lines/lines.ts");`)
	var wrong bytes.Buffer
	run.Dir, run.Stdin, run.Stderr = dashboard, &given, &wrong
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &wrong)
	}
	var all []map[string]line
	for answers := json.NewDecoder(bytes.NewReader(out)); answers.More(); {
		var drawn []struct {
			ID, Style, Colour, Verdict, Reason, Alarm, Title, Forward, Backward, Latency, Sentence string
		}
		is.NoErr(answers.Decode(&drawn))
		shown := map[string]line{}
		for _, l := range drawn {
			got := line{style: api.LinkKind(l.Style), verdict: api.LinkVerdict(l.Verdict), reason: l.Reason, there: numberIn(l.Forward), back: numberIn(l.Backward), rttUS: 2 * microsIn(l.Latency)}
			quiet := l.Reason == "" || strings.Contains(l.ID, "/") || // a network is nobody's cable
				strings.HasPrefix(l.Reason, "A hub")
			if (l.Alarm == "trouble") == quiet || (l.Title == "") != quiet || l.Colour != "var(--kind-"+l.Style+")" {
				got.verdict = api.LinkVerdict(fmt.Sprintf("%s, drawn as %s %q in %s", l.Verdict, l.Alarm, l.Title, l.Colour))
			}
			if got.there+got.back > 0 && strings.Contains(l.Sentence, "not measured") {
				got.reason = l.Sentence
			}
			shown[l.ID] = got
		}
		all = append(all, shown)
	}
	is.Equal(len(all), len(clusters))
	return all
}
