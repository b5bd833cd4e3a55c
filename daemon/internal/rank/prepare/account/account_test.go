package account

import (
	"os"
	"os/user"
	"slices"
	"strconv"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestFind(t *testing.T) {
	is := is.New(t)
	var book Book
	found, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("there is no nobody here")
	}
	a, err := book.Find("nobody")
	is.NoErr(err)
	is.Equal(strconv.FormatUint(uint64(a.UID), 10), found.Uid)
	is.Equal(a.Home, found.HomeDir)
	is.True(slices.Contains(a.Groups, a.GID))
	is.True(a.Shell != "" && a.Shell[0] == '/')
}

func TestNeverRoot(t *testing.T) {
	is := is.New(t)
	var book Book
	_, err := book.Find("root")
	is.Equal(api.AsError(err).Data.Reason, api.ReasonAccountForbidden)
	_, err = Account{Name: "toor"}.Credential(0)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonAccountForbidden)
	_, err = book.Find("no-such-account")
	is.Equal(api.AsError(err).Data.Reason, api.ReasonPrincipalUnmapped)
	_, err = book.Find("")
	is.Equal(api.AsError(err).Data.Reason, api.ReasonPrincipalUnmapped)
}

func TestCredential(t *testing.T) {
	is := is.New(t)
	a := Account{Name: "ada", UID: 1001, GID: 20, Groups: []uint32{20, 80}}
	c, err := a.Credential(0)
	is.NoErr(err)
	is.Equal(c.Uid, uint32(1001))
	is.Equal(c.Gid, uint32(20))
	is.Equal(c.Groups, []uint32{20, 80})
	is.Equal(ordered(20, []uint32{80, 12, 20, 80}), []uint32{20, 12, 80})
	is.Equal(len(ordered(7, make([]uint32, 3))), 2)
	is.True(!c.NoSetGroups) // root's groups would remain
	c, err = a.Credential(1001)
	is.NoErr(err)
	is.True(c == nil)
	_, err = a.Credential(1002)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonAccountForbidden)
}

func TestShellOf(t *testing.T) {
	is := is.New(t)
	text := "root:x:0:0:root:/root:/bin/bash\nadam:x:1:1::/:/bin/sh\nada:x:1001:20:Ada:/home/ada:/bin/zsh\nbroken:x\n"
	is.Equal(shellOf(text, "ada"), "/bin/zsh")
	is.Equal(shellOf(text, "broken"), "")
	is.Equal(shellOf(text, "eve"), "")
	is.Equal(shellOfRecord("UserShell: /bin/zsh\n"), "/bin/zsh")
	is.Equal(shellOfRecord("UserShell:\n /opt/my shells/fish\nOther: x\n"), "/opt/my shells/fish")
	is.Equal(shellOfRecord("No such key\n"), "")
	if _, err := os.Stat("/etc/passwd"); err == nil {
		shell, _ := loginShell("root")
		is.True(shell != "")
	}
}
