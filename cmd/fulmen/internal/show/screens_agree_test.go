package show

import (
	"bytes"
	"cmp"
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
	"time"

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
	now time.Time
	randomWork
	list       api.NodeListResult
	conditions []api.NodeCondition
	headline   api.Headline
	pending    []api.Pending
}

// What page, menu and command line say of every cable and network, Mac, job, model and
// service is what follows from the scenario, and nothing else is said.
func TestScreensSayTheSame(t *testing.T) {
	count := 40
	if os.Getenv("FULMEN_SOAK") != "" {
		count = 2000
	}
	file := filepath.Join(t.TempDir(), "random.toml")
	page := openDashboard(t)
	for seed := range testkit.Upto(t, count) {
		d := drawnCluster{seed: seed, randomCluster: newRandomCluster(seed.Source(1))}
		d.equip(seed.Source(4))
		err := os.WriteFile(file, []byte(d.scenario()), 0o644)
		if err == nil {
			d.Drawing, err = daemon.DrawScenario(file, "1.0.0")
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, d.scenario())
		}
		for _, n := range d.Nodes {
			d.ids = append(d.ids, n.Node)
		}
		d.age(t, seed.Source(3))
		d.settle(t)
		if err := d.share(seed.Source(6)); err != nil {
			t.Fatal(err)
		}
		d.warn(seed.Source(2))
		d.headline = d.Headline(d.conditions)
		d.work(seed.Source(5))
		d.check(t, "the menu", d.menu(), nil)
		d.check(t, "fulmen links", d.links(), nil)
		d.checkWays(t)
		d.checkTopology(t)
		lines, texts := page.draw(t, &d)
		if lines != nil {
			d.check(t, "the page", lines, d.networkLines())
		}
		d.checkFacts(t, texts)
	}
}

// checkFacts compares all that screens say besides cables and networks; texts are the page's.
func (d *drawnCluster) checkFacts(t *testing.T, texts map[string]string) {
	t.Helper()
	shown, wanted, view, names := screenTexts{}, screenTexts{}, View{Now: d.now}, NamesOf(d.list.Nodes)
	drawn := func(draw func(w *Page)) string {
		var page Page
		draw(&page)
		return page.String()
	}
	running := slices.DeleteFunc(slices.Clone(d.jobs), func(j api.JobSummary) bool { return j.Phase.Ended() })
	status := drawn(func(w *Page) {
		view.Status(w, Status{Nodes: d.list, Conditions: api.NodeConditionsResult{Conditions: d.conditions, Headline: d.headline}, State: api.StateGetResult{Docs: d.Docs}, Links: d.Links, Jobs: api.JobListResult{Jobs: running}})
	})
	shown.columns("nodes", status, "NAME")
	shown.columns("status", status, "JOB")
	headline, status, _ := strings.Cut(status, "\n\n")
	shown.add(strings.ReplaceAll(headline, "\n  ", "\n"), "status headline")
	_, status, _ = strings.Cut(status, "\n\n")
	_, status, _ = strings.Cut(status, "\n\n") // the Mac itself, which is below as well
	_, status, _ = strings.Cut(status, "\n\n")
	totals, conditions, _ := strings.Cut(status, "\n\n")
	if len(running) > 0 {
		_, conditions, _ = strings.Cut(conditions, "\n\n")
	}
	shown.add(strings.TrimSpace(totals), "status totals")
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(conditions), "\n") {
		lines = append(lines, manyGaps.ReplaceAllString(strings.TrimSpace(line), " "))
	}
	shown.add(strings.Join(lines, "\n"), "status conditions")
	state := d.state()
	menu := app.Build(state)
	shown.menu(menu)
	shown.sharingItems(menu)
	top := drawn(func(w *Page) { view.Top(w, state) })
	shown.columns("top", top, "NAME")
	shown.columns("top", top, "JOB")
	totals, _, _ = strings.Cut(top, "\n")
	shown.add(totals, "top totals")
	_, conditions, _ = strings.Cut(top, "\n")
	conditions, _, _ = strings.Cut(conditions, "\n")
	shown.add(conditions, "top conditions")
	shown.columns("jobs", drawn(func(w *Page) { view.Jobs(w, d.jobs, true, names) }), "JOB")
	for _, n := range d.list.Nodes {
		docs := slices.DeleteFunc(slices.Clone(d.Docs), func(one api.Document) bool { return one.Node != n.Node })
		text := drawn(func(w *Page) {
			view.Node(w, api.NodeGetResult{Node: n, Docs: docs}, Topology{Nodes: d.list.Nodes, Docs: d.Docs, Links: d.Links})
		})
		for line := range strings.SplitSeq(text, "\n") {
			if cells := manyGaps.Split(line, 2); slices.Contains([]string{"node", "memory", "GPU", "state"}, cells[0]) {
				shown.add(cells[1], "node %s: %s", n.Node, cells[0])
			}
		}
		shown.ports(text, n.Node)
	}
	shown.columns("sharing", drawn(func(w *Page) { view.Sharing(w, d.macs[0].sharing, names) }), "KEY")
	for id, one := range d.whole {
		text := drawn(func(w *Page) { view.Job(w, one.Job, one.Ranks, names) })
		shown.columns("ranks "+string(id), text[strings.LastIndex(text, "\nRANK ")+1:], "RANK")
		shown.columns("attempts "+string(id), text, "ATTEMPT")
		head, _, _ := strings.Cut(text, "\n\n")
		for line := range strings.SplitSeq(head, "\n") {
			if cells := manyGaps.Split(line, 2); slices.Contains([]string{"phase", "tries", "because", "exit", "home"}, cells[0]) {
				shown.add(cells[1], "job %s: %s", id, cells[0])
			}
		}
	}
	shown.columns("serve", drawn(func(w *Page) { view.Instances(w, api.InstanceListResult{Instances: d.instances}, names) }), "NAME")
	models := drawn(func(w *Page) { view.ModelsOfCluster(w, d.models, nil, names) })
	shown.columns("models", models, "MODEL")
	for line := range strings.SplitSeq(models, "\n") {
		if line, is := strings.CutPrefix(line, "Not of "); is {
			name, why, _ := strings.Cut(line, ": ")
			shown.add(why, "models not of %s", name)
		}
	}
	d.wantMacs(wanted)
	d.wantPicture(wanted)
	d.wantTotals(wanted)
	d.wantHeadline(wanted)
	d.wantConditions(wanted)
	d.wantJobs(wanted)
	d.wantRunning(wanted)
	d.wantWholeJobs(wanted)
	d.wantInstances(wanted)
	d.wantCopies(wanted)
	d.wantModels(wanted)
	d.wantSharing(wanted)
	d.wantPorts(wanted)
	d.wantTabs(wanted)
	for key, text := range texts {
		shown.page(key, text)
	}
	if texts == nil {
		isPage := func(key, _ string) bool {
			return slices.ContainsFunc([]string{"page ", "mac ", "card ", "panel ", "job "}, func(screen string) bool { return strings.HasPrefix(key, screen) })
		}
		maps.DeleteFunc(wanted, isPage)
	}
	d.agree(t, shown, wanted)
}

// state is what the menu is made of.
func (d *drawnCluster) state() app.State {
	state := app.State{Now: d.now, Daemon: app.DaemonRunning, Cables: d.Links.Cables, Conditions: d.conditions, Headline: d.headline, Totals: d.list.Totals, Jobs: d.jobs, Copies: d.copies, Sharing: &d.macs[0].sharing, Pending: d.pending, Simulated: true}
	for _, n := range d.list.Nodes {
		f := facts{node: n.Node, docs: d.Docs}
		state.Nodes = append(state.Nodes, app.Node{NodeView: n, Identity: valueIn[api.Identity](f, api.KindIdentity), Memory: valueIn[api.Memory](f, api.KindMemory),
			System: valueIn[api.System](f, api.KindSystem), GPU: valueIn[api.GPUProfile](f, api.KindGPUProfile)})
	}
	return state
}

// valueIn is what a document says; nil where there is none.
func valueIn[T any](f facts, kind api.Kind) *T {
	var v T
	if _, found := f.read(kind, &v); !found {
		return nil
	}
	return &v
}

// strainWords are the few words for what a Mac suffers from.
var strainWords = map[api.Reason]string{
	api.ReasonThermalPressure: "too hot", api.ReasonThermalCritical: "dangerously hot", api.ReasonMemoryPressure: "short of memory",
	api.ReasonMemoryCritical: "almost out of memory", api.ReasonBatteryLow: "battery low",
}

var strainCodes = append(slices.Sorted(maps.Keys(strainWords)), api.ReasonLowPowerMode)

// warn has conditions of every cable, which say nothing of how it is, and of some Macs.
func (d *drawnCluster) warn(r *rand.Rand) {
	codes := []api.Reason{api.ReasonRDMAOneSided, api.ReasonRDMABuildsDiffer, api.ReasonRDMANoIPv4GID, api.ReasonRDMAPortSuspect, api.ReasonRDMAProbeFailed}
	ago := func() api.Time { return api.TimeOf(d.now.Add(-time.Duration(r.IntN(200000)) * time.Second)) }
	for i, c := range d.Links.Cables {
		subject := choose(r.IntN(2) == 0, c.Link.String(), c.Ends[r.IntN(2)].End.String())
		d.conditions = append(d.conditions, api.NodeCondition{Node: c.Ends[0].End.Node, Condition: api.Condition{
			Code: codes[r.IntN(len(codes))], Severity: severities[2+r.IntN(2)], Text: fmt.Sprintf("Something else of cable %d.", i), Subject: subject, Since: ago(),
		}})
	}
	for i, n := range d.list.Nodes {
		if n.Liveness.Reached() && r.IntN(3) == 0 {
			code := strainCodes[r.IntN(len(strainCodes))]
			d.conditions = append(d.conditions, api.NodeCondition{Node: n.Node, Brief: strainWords[code], Condition: api.Condition{
				Code: code, Severity: severities[1+r.IntN(3)], Text: choose(r.IntN(2) == 0, "It saves power.", n.ShortName+" saves power."), Remedy: choose(i%2 == 0, "Plug it in.", ""), Since: ago(),
			}})
		}
	}
	slices.SortStableFunc(d.conditions, func(a, b api.NodeCondition) int {
		return cmp.Or(slices.Index(severities, b.Severity)-slices.Index(severities, a.Severity), b.Since.Compare(a.Since.Time))
	})
	if len(d.conditions) > 5 { // those of the menu's submenu
		d.conditions = d.conditions[:5]
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
		got := shown[id]
		if got.isStale { // the menu has no room for the verdict, fulmen links none for what a cable was
			got.verdict, got.style = cmp.Or(got.verdict, want.verdict), cmp.Or(got.style, want.style)
		}
		if _, isNetwork := networks[id]; isNetwork && got.isStale && d.bothSilent(id, got.reason) {
			got.reason = want.reason // both ends say nothing, and one is named
		}
		if low, high := min(want.there, want.back), max(want.there, want.back); got.isOne && got.there == low && high-low <= 0.02*high {
			got.there, got.back, got.isOne = want.there, want.back, false // the slower one stands for both
		}
		if got != want {
			t.Errorf("seed %d: %s says of %s\n  %+v, not\n  %+v", d.seed, screen, id, got, want)
		}
	}
	for id, got := range shown {
		if _, is := wanted[id]; !is {
			t.Errorf("seed %d: %s has %s, which is nothing:\n  %+v", d.seed, screen, id, got)
		}
	}
}

// bothSilent reports whether both Macs of a network's line are away, and a text is why one is.
func (d *drawnCluster) bothSilent(id, text string) bool {
	pair, _, _ := strings.Cut(id, "/")
	low, high, _ := strings.Cut(pair, "~")
	why := []string{d.silence(slices.Index(d.ids, api.NodeID(low)), slices.Index(d.ids, api.NodeID(low))), d.silence(slices.Index(d.ids, api.NodeID(high)), slices.Index(d.ids, api.NodeID(high)))}
	return !slices.Contains(why, "") && slices.Contains(why, text)
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
	shown := map[string]line{}
	for _, top := range app.Build(d.state()).Items {
		for _, item := range top.Items {
			id, isCable := strings.CutPrefix(item.ID, "cable:")
			if top.ID != "cables" || !isCable {
				continue
			}
			l := line{verdict: api.VerdictGood}
			if strings.HasSuffix(item.Title, "one end cannot be reached") {
				l.verdict, l.isStale = "", true
			}
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
		cell, isStale := strings.CutSuffix(strings.TrimSuffix(cells[6], " SIMULATED"), ", stale")
		verdict, reason, _ := strings.Cut(cell, ": ")
		l := line{isStale: isStale, style: kinds[cells[1]], verdict: api.LinkVerdict(verdict)}
		if reason != "" {
			first, _, _ := strings.Cut(reason, "; ")
			l.reason = first + "."
		}
		if cells[5] == "ready" {
			l.style = api.LinkRDMA
		}
		if isStale && cells[3] == "-" {
			l.style = ""
		}
		if kind, speed, is := strings.Cut(cells[3], " "); is {
			there, back, differ := strings.Cut(speed, "/")
			l.there, l.back = numberIn(there), numberIn(choose(differ && back != "s", back, there))
			if isStale && kinds[kind] == api.LinkRDMA {
				l.style = api.LinkRDMA // as which it was last known
			}
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

// dashboard is what the page's own code draws; empty where what runs it is not here.
type dashboard struct {
	given *json.Encoder
	drawn *json.Decoder
	wrong bytes.Buffer
}

func openDashboard(t *testing.T) *dashboard {
	t.Helper()
	folder, err := filepath.Abs("../../../../assets/dashboard")
	is := is.New(t)
	is.NoErr(err)
	if _, err := os.Stat(filepath.Join(folder, "node_modules/rolldown")); err != nil {
		t.Log("the dashboard's packages are not here: make deps fetches them")
		return nil
	}
	for _, below := range []string{"src", "browser/lines"} {
		is.NoErr(testkit.WatchInputs(filepath.Join(folder, below)))
	}
	node := filepath.Join(folder, "../../build/tools/bin/node")
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	var d dashboard
	run := exec.CommandContext(t.Context(), node, "browser/lines/run.mjs")
	run.Dir, run.Stderr, run.Env = folder, &d.wrong, append(os.Environ(), "TZ=UTC")
	in, err := run.StdinPipe()
	is.NoErr(err)
	out, err := run.StdoutPipe()
	is.NoErr(err)
	is.NoErr(run.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = run.Wait() // what went wrong was screenTexts where it was noticed
	})
	d.given, d.drawn = json.NewEncoder(in), json.NewDecoder(out)
	return &d
}

// draw is what the page draws of the cables and networks of a cluster, and the texts of its parts.
func (p *dashboard) draw(t *testing.T, d *drawnCluster) (shown map[string]line, texts map[string]string) {
	t.Helper()
	if p == nil {
		return nil, nil
	}
	var drawn struct {
		Lines []struct {
			ID, Style, Colour, Verdict, Reason, Alarm, Title, Forward, Backward, Both, Latency, Sentence string
			Stale                                                                                        bool
		}
		Texts map[string]string
	}
	err := p.given.Encode(map[string]any{"now": api.TimeOf(d.now), "nodes": d.list.Nodes, "totals": d.list.Totals, "docs": d.Docs, "links": d.Links, "conditions": d.conditions, "headline": d.headline,
		"jobs": append([]api.JobSummary{}, d.jobs...), "models": d.models, "copies": append([]api.ModelCopying{}, d.copies...), "instances": append([]api.Instance{}, d.instances...), "endpoint": "http://127.0.0.1:1/v1", "whole": d.whole})
	if err == nil {
		err = p.drawn.Decode(&drawn)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, &p.wrong)
	}
	shown = map[string]line{}
	for _, l := range drawn.Lines {
		got := line{isStale: l.Stale, style: api.LinkKind(l.Style), verdict: api.LinkVerdict(l.Verdict), reason: l.Reason, there: numberIn(cmp.Or(l.Forward, l.Both)), back: numberIn(cmp.Or(l.Backward, l.Both)), rttUS: 2 * microsIn(l.Latency), isOne: l.Both != ""}
		quiet := l.Reason == "" || l.Stale || strings.Contains(l.ID, "/") || // a network is nobody's cable
			strings.HasPrefix(l.Reason, "A hub")
		if (l.Alarm == "trouble") == quiet || (l.Title == "") != quiet || l.Colour != "var(--kind-"+l.Style+")" {
			got.verdict = api.LinkVerdict(fmt.Sprintf("%s, drawn as %s %q in %s", l.Verdict, l.Alarm, l.Title, l.Colour))
		}
		if got.there+got.back > 0 && strings.Contains(l.Sentence, "not measured") {
			got.reason = l.Sentence
		}
		shown[l.ID] = got
	}
	return shown, drawn.Texts
}
