package client

import (
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
		e := api.Errorf(api.ReasonInsecurePermissions, path, "%s can be read by others, so its token is not used.", path)
		e.Data.Remedy = "Revoke the token, and remove the file."
		return a, e
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		e := api.Errorf(api.ReasonBadValue, path, "%s does not say where a daemon answers.", path)
		e.Data.Remedy = "Restart the daemon, which writes it anew."
		return a, e.From(err)
	}
	return a, nil
}

// SaveAddress writes an api.json whole or not at all, readable by its owner only.
func SaveAddress(path string, a api.APIAddress) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".api-*") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
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
