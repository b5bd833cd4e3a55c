package metrics

import (
	"context"
	"flag"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

var update = flag.Bool("update", false, "write the golden file")

const (
	studio api.NodeID = "cpv0cwypxp44qw0p"
	book   api.NodeID = "y1m2wb3jdk61ktcs"
)

func doc(t *testing.T, node api.NodeID, kind api.Kind, name string, value any) api.Document {
	t.Helper()
	d := api.Document{Node: node, Kind: kind, Name: name, Simulated: node == book}
	if err := d.SetValue(value); err != nil {
		t.Fatal(err)
	}
	return d
}

func sample(t *testing.T) Source {
	at := api.TimeOf(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	evil := "evil\"} 1\nfulmen_owned 1"
	docs := []api.Document{
		doc(t, studio, api.KindMemory, "", api.Memory{TotalBytes: new(int64(512 << 30)), UsedBytes: new(int64(100 << 30))}),
		doc(t, studio, api.KindGPUProfile, "", api.GPUProfile{MeasuredAt: at, Device: api.MLXDeviceMetal, FP16TFLOPS: new(26.3), MemoryBytesPerS: new(int64(742e9)), DeviceName: evil}),
		doc(t, book, api.KindGPUProfile, "", api.GPUProfile{MeasuredAt: at, Device: api.MLXDevice(evil), FP16TFLOPS: new(7.0)}),
		doc(t, studio, api.KindSystem, "", api.System{PackagePowerWatts: new(41.5), GPUUseRatio: new(0.0)}),
		doc(t, book, api.KindSystem, "", api.System{PackagePowerWatts: new(77.7)}),
		doc(t, book, api.KindMemory, "", api.Memory{UsedBytes: new(int64(77 << 30))}),
		doc(t, book, api.KindCondition, "link_below_ports/"+string(book)+":1", api.Condition{Code: api.ReasonLinkBelowPorts, Severity: api.SeverityWarning, Text: evil}),
		doc(t, book, api.KindCondition, "another", api.Condition{Code: api.Reason(evil), Severity: api.SeverityInfo}),
		doc(t, book, api.KindCondition, "on_battery", api.Condition{Severity: api.Severity(evil)}),
		doc(t, studio, api.KindJob, "j4k2m9xq7", map[string]any{"phase": api.JobRunning}),
		doc(t, studio, api.KindJob, "j4k2m9xq8", "no job"),
	}
	link, err := api.NewLinkID(api.LinkEnd{Node: studio, PortNumber: 1}, api.LinkEnd{Node: book, PortNumber: 2})
	if err != nil {
		t.Fatal(err)
	}
	return Source{
		Version: "1.0.0", Node: studio,
		Nodes: func() api.NodeListResult {
			return api.NodeListResult{Totals: api.Totals{Members: 2, Nodes: 1}, Nodes: []api.NodeView{
				{Node: studio, ShortName: "studio", Liveness: api.LivenessAlive}, {Node: book, ShortName: quoted, Liveness: api.LivenessUnreachable, Simulated: true},
			}}
		},
		Links: func() api.LinkListResult {
			key := func(name string) api.LinkRowKey {
				return api.LinkRowKey{From: studio, To: book, Transport: api.TransportSocket, Name: name}
			}
			return api.LinkListResult{Cables: []api.Cable{
				{Link: link, Kind: api.LinkTB5, Verdict: api.VerdictSlow}, {Kind: api.LinkTB5, Verdict: api.VerdictGood},
			}, Rows: []api.LinkRow{
				{LinkRowKey: key(string(book) + "/10.0.0.2"), Kind: api.LinkTB5, Link: link, UpBitsPerS: new(int64(9.4e9)), DownBitsPerS: new(int64(9.3e9)),
					RTTUS: new(210.5), JitterUS: new(4.0), LossRatio: new(0.0), MeasuredAt: at, Verdict: api.VerdictGood},
				{LinkRowKey: key(string(book) + "/10.0.0.3"), Kind: api.LinkKind(evil), Verdict: api.VerdictUnknown},
				{LinkRowKey: key(evil), Kind: api.LinkEthernet, UpBitsPerS: new(int64(1)), Verdict: api.VerdictDown},
			}}
		},
		Docs: func(...api.Kind) []api.Document { return docs },
		Measurements: func() []Measurements {
			return []Measurements{{Kind: api.KindGPUProfile, IsAsked: true, State: api.MeasureDone, Count: 3}}
		},
		Missed: func() uint64 { return 2 },
		Watch:  func(context.Context) {},
	}
}

// quoted is a name that would be more than a label if it were not quoted.
const quoted = "book\"} 1\nfulmen_owned 1 \xff"

// A scrape shows what is known, and of people's texts the names alone.
func TestScrape(t *testing.T) {
	is := is.New(t)
	w := httptest.NewRecorder()
	Handler(sample(t)).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(w.Body)
	is.NoErr(err)
	is.Equal(w.Code, 200)
	var own []string
	for line := range strings.Lines(string(body)) {
		if strings.Contains(line, "fulmen_") {
			own = append(own, line)
		}
	}
	text := strings.Join(own, "")
	is.True(!strings.Contains(string(body), "evil") && !strings.Contains(string(body), "\nfulmen_owned"))
	is.True(strings.Contains(string(body), "go_goroutines"))
	for _, line := range own { // ids, words, addresses and numbers
		line = strings.ReplaceAll(line, `book\"} 1\nfulmen_owned 1 ?`, "book")
		is.True(strings.HasPrefix(line, "# ") || regexp.MustCompile(`^fulmen_[a-z0-9_]+(\{([a-z_]+="[A-Za-z0-9._:~% -]*",?)+\})? [0-9.e+]+\n$`).MatchString(line))
	}
	path := filepath.Join("testdata", "metrics.txt")
	if *update {
		is.NoErr(os.MkdirAll("testdata", 0o755))
		is.NoErr(os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(text, string(want))
}
