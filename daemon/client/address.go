package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fulmen/daemon/api"
)

// Address is a place where a daemon may be: a Unix socket, or a URL with a token.
type Address struct {
	// Socket is the path of the Unix socket, where no token is needed.
	Socket string
	// URL is the WebSocket's address, used where Socket is empty.
	URL string
	// Token is shown with URL.
	Token string
}

// String names the place, without the token.
func (a Address) String() string {
	if a.Socket != "" {
		return a.Socket
	}
	return a.URL
}

// apiFileMode keeps the token to its owner.
const apiFileMode = 0o600

// LoadAddress reads an api.json. One that others can read is refused: its token
// is no secret any more.
func LoadAddress(path string) (api.APIAddress, error) {
	var a api.APIAddress
	info, err := os.Stat(path)
	if err != nil {
		return a, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return a, api.Errorf(api.ReasonInsecurePermissions, path, "%s can be read by others, so its token is not used.", path).
			WithRemedy("Revoke the token, and remove the file.")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, api.Errorf(api.ReasonBadValue, path, "%s does not say where a daemon answers.", path).
			WithRemedy("Restart the daemon: it writes the file again.").From(err)
	}
	return a, nil
}

// SaveAddress writes an api.json whole or not at all, readable by its owner only.
func SaveAddress(path string, a api.APIAddress) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return Save(path, append(text, '\n'))
}

// Save writes a file of the caller's own whole or not at all, readable by its owner
// only, and makes its folder.
func Save(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Chmod(apiFileMode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// describe names the places that were tried.
func describe(all []Address) string {
	if len(all) == 1 {
		return all[0].String()
	}
	return fmt.Sprint(all)
}

// Login makes a token of the caller's own and writes it, with the daemon's
// address, to the caller's api.json, for scripts. A token of the same name from
// before is revoked: its file is about to be replaced. It works over the Unix
// socket only.
func Login(ctx context.Context, c *Client, path, name string) (api.APIAddress, error) {
	info, err := Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
	if err != nil {
		return api.APIAddress{}, err
	}
	create := func() (api.DaemonCreateTokenResult, error) {
		return Call[api.DaemonCreateTokenResult](ctx, c, "daemon.create_token", api.DaemonCreateTokenParams{Name: name})
	}
	made, err := create()
	if errors.Is(err, api.ReasonNameTaken) {
		if _, err = Call[api.Empty](ctx, c, "daemon.revoke_token", api.DaemonRevokeTokenParams{Name: name}); err == nil {
			made, err = create()
		}
	}
	if err != nil {
		return api.APIAddress{}, err
	}
	a := api.APIAddress{URL: info.APIURL, Socket: info.Socket, Token: made.Token, Node: info.Node}
	return a, SaveAddress(path, a)
}
