package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest"
)

// nonMember is the uid of another account.
const nonMember = 54321

// keepsTheLink looks on as another account while the dashboard is opened, which
// learns no secret, and with the secret would get nothing.
func keepsTheLink(t *testing.T, r *rig) {
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another account")
	}
	is := is.New(t)
	c := r.Nodes[0].Command(t.Context(), r.stage.Fulmen, "dashboard")
	c.Env = append(c.Environ(), r.env...)
	var reported bytes.Buffer
	c.Stdout, c.Stderr = &reported, os.Stderr
	is.NoErr(c.Start())
	path, address := r.browses("http://127.0.0.1:")
	host, secret, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/#secret=")

	processes, _ := asNonMember("/bin/sh", "-c", "cat /proc/[0-9]*/cmdline").Output() // some end meanwhile
	is.True(bytes.Contains(processes, []byte("dashboard")))
	is.True(!bytes.Contains(processes, []byte(secret)))
	is.True(asNonMember("/bin/cat", path).Run() != nil)

	is.Equal(redeems(t, host, secret, nonMember), api.ReasonOtherAccount)
	is.Equal(redeems(t, host, secret, int(r.stage.Account.UID)), api.Reason(""))
	is.NoErr(c.Wait())
	is.Equal(reported.String(), "The dashboard is open in the browser.\n")
	_, err := os.Stat(path)
	is.True(errors.Is(err, fs.ErrNotExist))
}

func asNonMember(program string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nonMember, Gid: nonMember}}
	return c
}

// redeems shows a secret as an account, and gives why it was refused.
func redeems(t *testing.T, host, secret string, uid int) api.Reason {
	t.Helper()
	is := is.New(t)
	transport := &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		return nativetest.DialAs(t, uid, address), nil
	}}
	ctx, stop := context.WithTimeout(t.Context(), timeout)
	defer stop()
	ws, _, err := websocket.Dial(ctx, "ws://"+host+api.PathAPI, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	is.NoErr(err)
	defer ws.CloseNow()
	is.NoErr(ws.Write(ctx, websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"daemon.redeem_secret","params":{"secret":"`+secret+`"}}`)))
	_, text, err := ws.Read(ctx)
	is.NoErr(err)
	var answer struct {
		Error *api.ResponseError `json:"error"`
	}
	is.NoErr(json.Unmarshal(text, &answer))
	if answer.Error == nil {
		return ""
	}
	return answer.Error.Data.Reason
}
