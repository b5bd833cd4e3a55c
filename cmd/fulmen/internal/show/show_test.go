package show

import (
	"encoding/json"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden files and the examples in docs/cli.md anew")

// screens is every golden file with what writes it.
func screens(t *testing.T) map[string]func(*Page) {
	view, wide := View{Now: now()}, View{Now: now(), Wide: true}
	both := append(studioDocs(t), miniDocs(t)...)
	alone := Status{Nodes: aloneList(), State: api.StateGetResult{Docs: studioDocs(t)}}
	alone.Conditions.Headline.Text = "Healthy: this Mac alone"
	cluster := Status{Info: info(), Nodes: bothList(), State: api.StateGetResult{Docs: both}, Conditions: api.NodeConditionsResult{Conditions: conditions(), Headline: worst(conditions())}, Jobs: api.JobListResult{Jobs: jobList()}}
	bare := Status{Nodes: api.NodeListResult{Nodes: []api.NodeView{{Node: mini, Self: true}}}}
	measured := api.Measurement{Items: []api.MeasureItem{{Document: api.Key{Node: studio, Kind: api.KindGPUProfile}, State: api.MeasureDone}}}
	checks := []api.DoctorCheck{
		{Check: "daemon", Answer: api.AnswerYes, Text: "The daemon runs and answers (version 1.0.0, pid 512, port 7732 for other Macs)."},
		{Check: "blas", Answer: api.AnswerUnknown, Reason: api.ReasonNotMeasured, Text: "It is not known which BLAS MLX uses until the GPU is measured.", Remedy: "Measure it with: fulmen measure gpu"},
		{Check: "health", Answer: api.AnswerNo, Reason: api.ReasonAPIPortTaken, Text: "Another program holds the API's port.", Remedy: "Scripts find the port in use in api.json."},
	}
	compared := []api.DoctorCheck{
		{Check: "hardware", Answer: api.AnswerYes, Text: "thunderbolt 4, interface: en5."},
		{Check: "hardware", Answer: api.AnswerNo, Reason: api.ReasonSourcesDisagree, Text: "RDMA devices: rdma_en4 rdma_en5 according to the registry, rdma_en5 according to librdma."},
		{Check: "hardware", Answer: api.AnswerUnknown, Reason: api.ReasonReadFailed, Text: "receptacles: system_profiler does not say (read_failed: system_profiler: it ran for longer than 15s)."},
	}
	tokens := []api.TokenInfo{
		{Name: "fulmen", CreatedAt: before(50 * time.Hour), UsedAt: before(10 * time.Second)},
		{Name: "old\x1b[1m", CreatedAt: before(100 * time.Hour), ExpiresAt: before(time.Hour)},
		{Name: "lab", CreatedAt: before(time.Hour), ExpiresAt: before(-719 * time.Hour)},
	}
	bad := listing()
	bad.Error = api.Errorf(api.ReasonConfigUnknownKey, "log.levl", "line 3: there is no key log.levl")
	all := map[string]func(*Page){
		"status":      func(w *Page) { view.Status(w, alone) },
		"status_wide": func(w *Page) { wide.Status(w, cluster) },
		"status_bare": func(w *Page) { wide.Status(w, bare) },
		"nodes":       func(w *Page) { view.Nodes(w, aloneList(), studioDocs(t)) },
		"nodes_wide":  func(w *Page) { wide.Nodes(w, bothList(), both) },
		"node_wide": func(w *Page) {
			wide.Node(w, api.NodeGetResult{Node: miniView(), Docs: miniDocs(t)}, Topology{})
		},
		"measure":      func(w *Page) { view.Profiles(w, measured, studioDocs(t)) },
		"doctor":       func(w *Page) { view.Checks(w, checks) },
		"doctor_wide":  func(w *Page) { wide.Checks(w, checks) },
		"hardware":     func(w *Page) { view.Hardware(w, compared) },
		"tokens":       func(w *Page) { view.Tokens(w, tokens) },
		"tokens_none":  func(w *Page) { view.Tokens(w, nil) },
		"config":       func(w *Page) { view.Config(w, listing()) },
		"config_wrong": func(w *Page) { wide.Config(w, bad) },
		"example":      func(w *Page) { Example(w, listing().Keys) },
		"report": func(w *Page) {
			view.Report(w, api.DaemonReportResult{
				Files:    []api.ReportFile{{Name: "state.json", Text: strings.Repeat("x\n", 700)}, {Name: "fulmend.log", Text: "one\ntwo\n"}},
				Redacted: map[string]int{"ip": 3, "text": 12},
			})
		},
		"nodes_memories": func(w *Page) {
			list, docs := memoriesOf(t)
			view.Nodes(w, list, docs)
		},
		"nodes_states": func(w *Page) { view.Nodes(w, fiveList(), both) },
		"node_paths":   func(w *Page) { wide.Node(w, api.NodeGetResult{Node: fiveList().Nodes[1]}, Topology{}) },
		"peers":        func(w *Page) { view.Peers(w, fivePeers(), false) },
		"peers_all":    func(w *Page) { wide.Peers(w, fivePeers(), true) },
		"peers_one":    func(w *Page) { view.Peers(w, onePeer(), true) },
		"models":       func(w *Page) { view.ModelsOfCluster(w, modelsOfCluster(), models().Folders, NamesOf(fiveList().Nodes)) },
		"models_empty": func(w *Page) {
			view.ModelsOfCluster(w, api.ModelClusterResult{Nodes: modelsOfCluster().Nodes}, nil, NamesOf(fiveList().Nodes))
		},
		"models_one":  func(w *Page) { view.Models(w, models(), "") },
		"models_wide": func(w *Page) { wide.Models(w, models(), "mac-studio") },
		"models_none": func(w *Page) { view.Models(w, api.ModelListResult{Account: "ada"}, "") },
		"model":       func(w *Page) { view.Model(w, modelShown()) },
		"model_verified": func(w *Page) {
			view.ModelVerified(w, modelShown().Model, api.ModelProgress{DoneBytes: 695 << 20, Verified: 2, Unverified: 1})
		},
		"pending":        func(w *Page) { view.Pending(w, asking(), false) },
		"pending_choose": func(w *Page) { view.Pending(w, asking(), true) },
		"pending_none":   func(w *Page) { view.Pending(w, nil, false) },
		"users":          func(w *Page) { view.Users(w, accounts(), NamesOf(fiveList().Nodes)) },
		"users_none":     func(w *Page) { view.Users(w, nil, nil) },
		"sharing":        func(w *Page) { view.Sharing(w, lent(), NamesOf(fiveList().Nodes)) },
		"sharing_none": func(w *Page) {
			view.Sharing(w, api.Sharing{Jobs: api.JobsNobody, RDMAChanges: api.ChangesNobody, IdleAfterS: 600}, nil)
		},
		"code":             func(w *Page) { BigCode(w, "K7QM-3WXD") },
		"code_all":         func(w *Page) { alphabet(w) },
		"code_strange":     func(w *Page) { BigCode(w, "a\x1bU") },
		"demo":             func(w *Page) { view.Demo(w, whole()) },
		"demo_measured":    func(w *Page) { view.DemoMeasured(w, bothList(), clusterLinks()) },
		"demo_early":       func(w *Page) { view.Demo(w, early()) },
		"topology":         func(w *Page) { view.Topology(w, mesh(t)) },
		"topology_wide":    func(w *Page) { wide.Topology(w, mesh(t)) },
		"topology_strange": func(w *Page) { wide.Topology(w, unknown(t)) },
		"topology_bare":    func(w *Page) { view.Topology(w, Topology{Nodes: aloneList().Nodes}) },
		"links":            func(w *Page) { view.Links(w, clusterLinks(), clusterNodes()) },
		"links_wide":       func(w *Page) { wide.Links(w, clusterLinks(), clusterNodes()) },
		"links_strange":    func(w *Page) { view.Links(w, unknown(t).Links, unknown(t).Nodes) },
		"links_untested":   func(w *Page) { view.Links(w, untestedLinks(), clusterNodes()) },
		"link_untested": func(w *Page) {
			all := untestedLinks()
			view.Link(w, api.LinkGetResult{Cable: all.Cables[0], Rows: all.Rows[:1]}, clusterNodes())
		},
		"links_cables":    func(w *Page) { view.Links(w, alikeLinks(false), clusterNodes()) },
		"links_addresses": func(w *Page) { view.Links(w, alikeLinks(true), clusterNodes()) },
		"link_addresses": func(w *Page) {
			view.Link(w, api.LinkGetResult{Cable: clusterLinks().Cables[0], Rows: alikeLinks(true).Rows}, clusterNodes())
		},
		"links_none":       func(w *Page) { view.Links(w, api.LinkListResult{}, clusterNodes()) },
		"links_history":    func(w *Page) { view.History(w, clusterHistory(), clusterNodes()) },
		"links_unmeasured": func(w *Page) { view.History(w, api.LinkHistoryResult{}, nil) },
		"link":             func(w *Page) { view.Link(w, clusterLink(), clusterNodes()) },
		"link_wide":        func(w *Page) { wide.Link(w, dockedLink(), clusterNodes()) },
		"link_guest": func(w *Page) {
			wide.Link(w, api.LinkGetResult{Cable: clusterLinks().Cables[2]}, clusterNodes())
		},
		"rdma":            func(w *Page) { view.RDMA(w, readyCables(), clusterNodes()) },
		"rdma_none":       func(w *Page) { view.RDMA(w, api.RDMAListResult{}, clusterNodes()) },
		"rdma_check":      func(w *Page) { view.RDMAChecks(w, readyCables().Links[2:3], clusterNodes()) },
		"rdma_check_wide": func(w *Page) { wide.RDMAChecks(w, readyCables().Links, clusterNodes()) },
		"rdma_check_none": func(w *Page) { view.RDMAChecks(w, nil, clusterNodes()) },
		"node_ports": func(w *Page) { // what it suffers from is not known of one that sleeps
			low := doc(t, book, api.KindCondition, api.Condition{Severity: api.SeverityWarning, Text: "It runs on its battery.", Remedy: "Connect it to power."}, nil)
			view.Node(w, api.NodeGetResult{Node: clusterNodes()[2], Docs: append(clusterDocs(t)[10:12:12], low)}, mesh(t))
			view.Node(w, api.NodeGetResult{Node: clusterNodes()[0], Docs: []api.Document{low}}, mesh(t))
		},
		"status_ports": func(w *Page) {
			list := clusterLinks()
			view.Status(w, Status{Nodes: api.NodeListResult{Nodes: clusterNodes()[:1]}, State: api.StateGetResult{Docs: clusterDocs(t)}, Links: list})
		},
		"watch": func(w *Page) {
			system := doc(t, studio, api.KindSystem, api.System{CPUUseRatio: ptr(0.12), GPUUseRatio: ptr(0.97), PackagePowerWatts: ptr(88.4), ThermalState: api.ThermalNominal, PowerSource: api.PowerMains}, nil)
			future := doc(t, studio, "future", map[string]string{"text": strings.Repeat("é\u202e", 60)}, nil)
			for _, d := range append(both, system, future, api.Document{Deleted: true}) {
				io.WriteString(w, view.Summary(d)+"\n")
			}
		},
	}
	maps.Copy(all, jobScreens(t))
	maps.Copy(all, leavingScreens(view, wide))
	maps.Copy(all, changeScreens(view))
	maps.Copy(all, auditScreens(view, wide))
	maps.Copy(all, topScreens(view))
	maps.Copy(all, narrowScreens(all))
	return all
}

func TestScreens(t *testing.T) {
	for name, write := range screens(t) {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var got Page
			write(&got)
			for _, r := range got.String() {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%U would act on a terminal", r)
				}
			}
			path := filepath.Join("testdata", name+".txt")
			if *update {
				is.NoErr(os.WriteFile(path, []byte(got.String()), 0o644))
			}
			want, err := os.ReadFile(path)
			is.NoErr(err)
			is.Equal(got.String(), string(want))
		})
	}
}

func TestNoGoldenFileIsLeftOver(t *testing.T) {
	is := is.New(t)
	files, err := os.ReadDir("testdata")
	is.NoErr(err)
	all := screens(t)
	for _, f := range files {
		is.True(all[strings.TrimSuffix(f.Name(), ".txt")] != nil)
	}
	is.Equal(len(files), len(all))
}

// TestDocsShowWhatIsPrinted holds the examples of docs/cli.md to the golden
// files that they name.
func TestDocsShowWhatIsPrinted(t *testing.T) {
	is := is.New(t)
	path := filepath.Join("..", "..", "..", "..", "docs", "cli.md")
	text, err := os.ReadFile(path)
	is.NoErr(err)
	const mark = "<!-- printed: "
	parts := strings.Split(string(text), mark)
	is.True(len(parts) > 6) // the examples are there
	for i, part := range parts[1:] {
		name, rest, _ := strings.Cut(part, " -->\n```\n")
		command, rest, _ := strings.Cut(rest, "\n")
		is.True(strings.HasPrefix(command, "$ fulmen ")) // what was typed
		shown, after, found := strings.Cut(rest, "```\n")
		is.True(found)
		want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		is.NoErr(err)
		if *update {
			parts[i+1] = name + " -->\n```\n" + command + "\n" + string(want) + "```\n" + after
			continue
		}
		is.Equal(shown, string(want))
	}
	if *update {
		is.NoErr(os.WriteFile(path, []byte(strings.Join(parts, mark)), 0o644))
	}
}

// The first line of fulmen status is the daemon's headline of every sort, with what to do below it;
// each problem is there once.
func TestHeadlineIsFirst(t *testing.T) {
	is := is.New(t)
	raw, err := os.ReadFile("../../../../daemon/internal/health/testdata/headlines.json")
	is.NoErr(err)
	var all []api.NodeConditionsResult
	is.NoErr(json.Unmarshal(raw, &all))
	is.True(len(all) > 20)
	for _, test := range all {
		test.Conditions = slices.DeleteFunc(test.Conditions, func(c api.NodeCondition) bool { return c.Muted }) // they are not asked for
		var page Page
		View{Now: now()}.Status(&page, Status{Conditions: test})
		lines := strings.Split(page.String(), "\n")
		is.Equal(lines[0], test.Headline.Text)
		if worst := test.Headline.Worst; worst != nil {
			is.Equal(lines[1:4], []string{"  " + worst.Remedy, "  " + worst.Action.Label + ": " + worst.Action.Target, ""})
		}
		is.Equal(strings.Count(page.String(), "\n  warning ")+strings.Count(page.String(), "\n  error "), max(0, test.Headline.Problems-1))
	}
}
