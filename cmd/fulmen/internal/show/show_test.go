package show

import (
	"bytes"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden files and the examples in docs/cli.md anew")

// screens is every golden file with what writes it.
func screens(t *testing.T) map[string]func(io.Writer) error {
	view, wide := View{Now: now()}, View{Now: now(), Wide: true}
	both := append(studioDocs(t), miniDocs(t)...)
	alone := Status{Nodes: aloneList(), State: api.StateGetResult{Docs: studioDocs(t)}}
	cluster := Status{Info: info(), Nodes: bothList(), State: api.StateGetResult{Docs: both}, Conditions: api.NodeConditionsResult{Conditions: conditions()}}
	bare := Status{Nodes: api.NodeListResult{Nodes: []api.NodeView{{Node: mini, Self: true}}}}
	measured := api.Measurement{Items: []api.MeasureItem{{Document: api.Key{Node: studio, Kind: api.KindGPUProfile}, State: api.MeasureDone}}}
	checks := []api.DoctorCheck{
		{Check: "daemon", Answer: api.AnswerYes, Text: "The daemon runs and answers (version 1.0.0, pid 512)."},
		{Check: "blas", Answer: api.AnswerUnknown, Reason: api.ReasonNotMeasured, Text: "Which BLAS MLX uses is known after a measurement.", Remedy: "Measure it with: fulmen measure gpu"},
		{Check: "health", Answer: api.AnswerNo, Reason: api.ReasonAPIPortTaken, Text: "Another program holds the API's port.", Remedy: "Scripts find the port in use in api.json."},
	}
	compared := []api.DoctorCheck{
		{Check: "hardware", Answer: api.AnswerYes, Text: "thunderbolt 4, interface: en5."},
		{Check: "hardware", Answer: api.AnswerNo, Reason: api.ReasonSourcesDisagree, Text: "RDMA devices: rdma_en4 rdma_en5 by the registry, rdma_en5 by librdma."},
		{Check: "hardware", Answer: api.AnswerUnknown, Reason: api.ReasonReadFailed, Text: "receptacles: system_profiler does not say (read_failed: system_profiler: it ran for longer than 15s)."},
	}
	tokens := []api.TokenInfo{
		{Name: "fulmen", CreatedAt: before(50 * time.Hour), UsedAt: before(10 * time.Second)},
		{Name: "old\x1b[1m", CreatedAt: before(100 * time.Hour), ExpiresAt: before(time.Hour)},
		{Name: "lab", CreatedAt: before(time.Hour), ExpiresAt: before(-719 * time.Hour)},
	}
	bad := listing()
	bad.Error = api.Errorf(api.ReasonConfigUnknownKey, "log.levl", "line 3: there is no key log.levl")
	all := map[string]func(io.Writer) error{
		"status":      func(w io.Writer) error { return view.Status(w, alone) },
		"status_wide": func(w io.Writer) error { return wide.Status(w, cluster) },
		"status_bare": func(w io.Writer) error { return wide.Status(w, bare) },
		"nodes":       func(w io.Writer) error { return view.Nodes(w, aloneList(), studioDocs(t)) },
		"nodes_wide":  func(w io.Writer) error { return wide.Nodes(w, bothList(), both) },
		"node_wide": func(w io.Writer) error {
			return wide.Node(w, api.NodeGetResult{Node: miniView(), Docs: miniDocs(t)})
		},
		"measure":      func(w io.Writer) error { return view.Profiles(w, measured, studioDocs(t)) },
		"doctor":       func(w io.Writer) error { return view.Checks(w, checks) },
		"doctor_wide":  func(w io.Writer) error { return wide.Checks(w, checks) },
		"hardware":     func(w io.Writer) error { return view.Hardware(w, compared) },
		"tokens":       func(w io.Writer) error { return view.Tokens(w, tokens) },
		"tokens_none":  func(w io.Writer) error { return view.Tokens(w, nil) },
		"config":       func(w io.Writer) error { return view.Config(w, listing()) },
		"config_wrong": func(w io.Writer) error { return wide.Config(w, bad) },
		"example":      func(w io.Writer) error { return Example(w, listing().Keys) },
		"report": func(w io.Writer) error {
			return view.Report(w, api.DaemonReportResult{
				Files:    []api.ReportFile{{Name: "state.json", Text: strings.Repeat("x\n", 700)}, {Name: "fulmend.log", Text: "one\ntwo\n"}},
				Redacted: map[string]int{"ip": 3, "text": 12},
			})
		},
		"nodes_states":   func(w io.Writer) error { return view.Nodes(w, fiveList(), both) },
		"node_paths":     func(w io.Writer) error { return wide.Node(w, api.NodeGetResult{Node: fiveList().Nodes[1]}) },
		"peers":          func(w io.Writer) error { return view.Peers(w, fivePeers(), false) },
		"peers_all":      func(w io.Writer) error { return wide.Peers(w, fivePeers(), true) },
		"peers_one":      func(w io.Writer) error { return view.Peers(w, onePeer(), true) },
		"pending":        func(w io.Writer) error { return view.Pending(w, asking(), false) },
		"pending_choose": func(w io.Writer) error { return view.Pending(w, asking(), true) },
		"pending_none":   func(w io.Writer) error { return view.Pending(w, nil, false) },
		"users":          func(w io.Writer) error { return view.Users(w, accounts(), namesOf(fiveList().Nodes)) },
		"users_none":     func(w io.Writer) error { return view.Users(w, nil, nil) },
		"sharing":        func(w io.Writer) error { return view.Sharing(w, lent(), namesOf(fiveList().Nodes)) },
		"sharing_none": func(w io.Writer) error {
			return view.Sharing(w, api.Sharing{Jobs: api.JobsNobody, RDMAChanges: api.ChangesNobody, IdleAfterS: 600}, nil)
		},
		"code":             func(w io.Writer) error { return BigCode(w, "K7QM-3WXD") },
		"code_all":         func(w io.Writer) error { return alphabet(w) },
		"code_strange":     func(w io.Writer) error { return BigCode(w, "a\x1bU") },
		"demo":             func(w io.Writer) error { return view.Demo(w, whole()) },
		"demo_measured":    func(w io.Writer) error { return view.DemoMeasured(w, bothList(), clusterLinks()) },
		"demo_early":       func(w io.Writer) error { return view.Demo(w, early()) },
		"topology":         func(w io.Writer) error { return view.Topology(w, mesh(t)) },
		"topology_wide":    func(w io.Writer) error { return wide.Topology(w, mesh(t)) },
		"topology_strange": func(w io.Writer) error { return wide.Topology(w, strange(t)) },
		"topology_bare":    func(w io.Writer) error { return view.Topology(w, Topology{Nodes: aloneList().Nodes}) },
		"links":            func(w io.Writer) error { return view.Links(w, clusterLinks(), clusterNodes()) },
		"links_wide":       func(w io.Writer) error { return wide.Links(w, clusterLinks(), clusterNodes()) },
		"links_strange":    func(w io.Writer) error { return view.Links(w, strange(t).Links, strange(t).Nodes) },
		"links_untested":   func(w io.Writer) error { return view.Links(w, untestedLinks(), clusterNodes()) },
		"link_untested": func(w io.Writer) error {
			all := untestedLinks()
			return view.Link(w, api.LinkGetResult{Cable: all.Cables[0], Rows: all.Rows[:1]}, clusterNodes())
		},
		"links_none":       func(w io.Writer) error { return view.Links(w, api.LinkListResult{}, clusterNodes()) },
		"links_history":    func(w io.Writer) error { return view.History(w, clusterHistory(), clusterNodes()) },
		"links_unmeasured": func(w io.Writer) error { return view.History(w, api.LinkHistoryResult{}, nil) },
		"link":             func(w io.Writer) error { return view.Link(w, clusterLink(), clusterNodes()) },
		"link_wide":        func(w io.Writer) error { return wide.Link(w, dockedLink(), clusterNodes()) },
		"link_guest": func(w io.Writer) error {
			return wide.Link(w, api.LinkGetResult{Cable: clusterLinks().Cables[2]}, clusterNodes())
		},
		"rdma":            func(w io.Writer) error { return view.RDMA(w, readyCables(), clusterNodes()) },
		"rdma_none":       func(w io.Writer) error { return view.RDMA(w, api.RDMAListResult{}, clusterNodes()) },
		"rdma_check":      func(w io.Writer) error { return view.RDMAChecks(w, readyCables().Links[2:3], clusterNodes()) },
		"rdma_check_wide": func(w io.Writer) error { return wide.RDMAChecks(w, readyCables().Links, clusterNodes()) },
		"rdma_check_none": func(w io.Writer) error { return view.RDMAChecks(w, nil, clusterNodes()) },
		"node_ports": func(w io.Writer) error {
			return view.Node(w, api.NodeGetResult{Node: clusterNodes()[2], Docs: clusterDocs(t)[10:12]})
		},
		"status_ports": func(w io.Writer) error {
			list := clusterLinks()
			return view.Status(w, Status{Nodes: api.NodeListResult{Nodes: clusterNodes()[:1]}, State: api.StateGetResult{Docs: clusterDocs(t)}, Links: &list})
		},
		"watch": func(w io.Writer) error {
			system := doc(t, studio, api.KindSystem, api.System{CPUUseRatio: ptr(0.12), GPUUseRatio: ptr(0.97), PackagePowerWatts: ptr(88.4), ThermalState: api.ThermalNominal, PowerSource: api.PowerMains}, nil)
			future := doc(t, studio, "future", map[string]string{"text": strings.Repeat("é\u202e", 60)}, nil)
			for _, d := range append(both, system, future, api.Document{Deleted: true}) {
				if _, err := io.WriteString(w, view.Summary(d)+"\n"); err != nil {
					return err
				}
			}
			return nil
		},
	}
	maps.Copy(all, jobScreens(t))
	maps.Copy(all, leavingScreens(view, wide))
	maps.Copy(all, changeScreens(view))
	maps.Copy(all, auditScreens(view, wide))
	return all
}

func TestScreens(t *testing.T) {
	for name, write := range screens(t) {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var got bytes.Buffer
			is.NoErr(write(&got))
			for _, r := range got.String() {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%U would act on a terminal", r)
				}
			}
			path := filepath.Join("testdata", name+".txt")
			if *update {
				is.NoErr(os.WriteFile(path, got.Bytes(), 0o644))
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
