package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

const (
	node    = "cpv0cwypxp44qw0p"
	cluster = "a7937b64b8caa58f03721bb6bacf5c78"
)

func TestText(t *testing.T) {
	is := is.New(t)
	r := New()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"--token=hunter2", "text-1"},
		{"ada", "text-2"},
		{"ada@" + node, "text-2@" + node}, // the same value, the same word
		{"zoe@" + node, "user-1@" + node},
		{"/Users/ada/x", "path-1"},
		{"~/x", "path-2"},
		{"/Users/ada/x", "path-1"},
		{"192.0.2.7", "ip-1"},
		{"192.0.2.7/24", "ip-1/24"},
		{"192.0.2.7:7732", "ip-1:7732"},
		{node + "/192.0.2.7", node + "/ip-1"},
		{"169.254.3.4/16", "link-local-1/16"},
		{"fe80::1%en5", "link-local-2"},
		{"127.0.0.1:7731", "127.0.0.1:7731"},
		{"3c:07:54:aa:bb:0c", "mac-1"},
		{"dial tcp 192.0.2.8:1: connect: connection refused", "text-3: connect: connection refused"},
		{"studio: no such file or directory: ada", "text-4: no such file or directory: text-2"},
		{"mail: ada", "text-5"},
	} {
		is.Equal(r.Text(c.in), c.want)
	}
	is.Equal(r.Counts()["ip"], 4)
}

// A report stays useful: what is harmless is there, and what is replaced can be followed.
func TestJSON(t *testing.T) {
	is := is.New(t)
	spec := api.JobSpec{Job: "j4k2m9xq7", Principal: api.Principal{User: "ada", Node: node}, Name: "secret", Labels: map[string]string{"team": "secret"},
		Program: api.Program{Command: []string{"python", "--token=hunter2"}, Directory: "/Users/ada/x"}}
	rawSpec, err := json.Marshal(spec)
	is.NoErr(err)
	docs := []api.Document{
		document(t, api.KindJob, "j4k2m9xq7", api.Job{Spec: rawSpec, Phase: api.JobFailed, Home: node, Epoch: 18014398509481985,
			Principal: api.Principal{User: "ada", Node: node}, Message: "/Users/ada/x: " + fs.ErrNotExist.Error(), WaitingFor: "j4k2m9xq8/1/0"}),
		document(t, api.KindIdentity, "", api.Identity{Name: "Ada's Mac", Model: "Mac15,14", ModelName: "Mac Studio (2025)", Chip: "Apple M3 Ultra",
			OSName: "macOS", OSVersion: "26.2", OSBuild: "25C56", MLXVersion: "0.32.4", FulmenVersion: "0.1.0", PublicKey: []byte("fulmen")}),
		document(t, api.KindReach, node+"/192.0.2.7", api.Reach{Peer: node, Interface: "en5"}),
		document(t, api.KindCondition, "cable_slow/ada", nil),
		document(t, api.KindCondition, string(api.ReasonLinkTooSlow)+"/"+node+":3", nil),
	}
	docs[1].Unknown = map[string]api.Reason{"hubs.0x1.negotiated": api.ReasonNotYetRead, "peers.ada.name": "ada"}
	raw, err := json.Marshal(api.StateGetResult{Docs: docs})
	is.NoErr(err)
	r := New()
	var got struct {
		Docs []struct {
			Name    string
			At      string
			Unknown map[string]string
			Value   map[string]any
		}
	}
	text := r.JSON(reflect.TypeFor[api.StateGetResult](), raw)
	is.NoErr(json.Unmarshal([]byte(text), &got))
	is.True(strings.Contains(text, "18014398509481985")) // numbers stay exact
	job, identity := got.Docs[0], got.Docs[1]
	is.Equal(job.Name, "j4k2m9xq7")
	is.Equal(job.At, "2026-11-21T11:00:00.123Z")
	is.Equal(job.Value["phase"], "failed")
	is.Equal(job.Value["waiting_for"], "j4k2m9xq8/1/0")
	is.Equal(job.Value["principal"], "user-1@"+node)
	program := job.Value["spec"].(map[string]any)["program"].(map[string]any)
	is.Equal(job.Value["message"], program["directory"].(string)+": file does not exist") // what failed is where it ran
	for field, want := range map[string]string{"model": "Mac15,14", "model_name": "Mac Studio (2025)", "chip": "Apple M3 Ultra", "os_name": "macOS",
		"os_version": "26.2", "os_build": "25C56", "mlx_version": "0.32.4", "fulmen_version": "0.1.0", "name": "name-1"} {
		is.Equal(identity.Value[field], want)
	}
	is.Equal(job.Value["spec"].(map[string]any)["labels"], map[string]any{"text-1": "text-2"})
	is.Equal(identity.Unknown["hubs.0x1.negotiated"], string(api.ReasonNotYetRead))
	is.Equal(got.Docs[2].Name, node+"/ip-1")
	is.Equal(got.Docs[2].Value["interface"], "en5")
	is.True(!strings.Contains(got.Docs[3].Name, "ada"))
	is.Equal(got.Docs[4].Name, string(api.ReasonLinkTooSlow)+"/"+node+":3")
	is.Equal(New().JSON(nil, []byte("{ada")), "text-1")
}

func document(t *testing.T, kind api.Kind, name string, value any) api.Document {
	t.Helper()
	at, err := api.ParseTime("2026-11-21T11:00:00.123Z")
	if err != nil {
		t.Fatal(err)
	}
	d := api.Document{Node: node, Kind: kind, Name: name, Inc: 1, Seq: 2, At: at}
	if err := d.SetValue(value); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestLine(t *testing.T) {
	is := is.New(t)
	r := New()
	line := func(write func(*slog.Logger)) string {
		var out bytes.Buffer
		write(slog.New(slog.NewTextHandler(&out, nil)).With("package", "rank"))
		_, text, ok := strings.Cut(r.Line(strings.TrimSpace(out.String())), " ")
		is.True(ok)
		return text
	}
	is.Equal(line(func(l *slog.Logger) {
		l.Info("a path", "node", node, "interface", "en5", "state", api.PathActive, "reason", api.ReasonLinkTooSlow, "port", 7732, "from", "192.0.2.7:12")
	}), `level=INFO msg="a path" package=rank node=`+node+` interface=en5 state=active reason=link_too_slow port=7732 from=ip-1:12`)
	is.Equal(line(func(l *slog.Logger) {
		l.Warn("not read", "path", "/Users/ada/x y", "error", &os.PathError{Op: "open", Path: "/Users/ada", Err: syscall.EACCES}, "state", "/Users/ada/x y")
	}), `level=WARN msg="not read" package=rank path=path-1 error="text-1: permission denied" state=path-1`)
	is.Equal(line(func(l *slog.Logger) { l.Info("x", "msg", "ada", "package", "ada", "error", errors.New("ada")) }),
		`level=INFO msg=x package=rank msg=text-2 package=text-2 error=text-2`)
	for _, no := range []string{"goroutine 1 [running]:", "time=ada level=INFO msg=ada", "time=2026-11-21T11:00:00Z level=ada msg=ada",
		`time=2026-11-21T11:00:00Z level=INFO msg="ada`, "msg=ada", "ada"} {
		is.True(strings.HasPrefix(r.Line(no), "text-"))
	}
}

func ExampleRedactor_JSON() {
	fmt.Println(New().JSON(reflect.TypeFor[api.DaemonInfoResult](), []byte(`{"cluster":"`+cluster+`","node":"`+node+`","user":"ada"}`)))
	// Output:
	// {
	//   "cluster": "cluster-1",
	//   "node": "cpv0cwypxp44qw0p",
	//   "user": "user-1"
	// }
}
