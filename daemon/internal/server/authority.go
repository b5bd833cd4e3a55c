package server

import (
	"context"
	"errors"
	"os/user"
	"runtime"
	"slices"
	"strconv"

	"fulmen/daemon/api"
)

// Authorizer checks a proof that the person at the keyboard is an
// administrator. On macOS it is an AuthorizationExternalForm for the right
// api.AdminRight; membership in a group alone proves nothing there.
type Authorizer interface {
	// Authorize refuses with an *api.Error. The form comes from the client and
	// can be anything.
	Authorize(ctx context.Context, uid uint32, form []byte) error
}

// isAdmin says whether a user is of class admin without any proof.
func (s *Server) isAdmin(uid uint32) bool {
	switch {
	case uid == 0:
		return true
	case s.config.Mode == api.ModeUser:
		return uid == s.config.UID
	case s.config.InAdminGroup == nil:
		return false
	}
	member, err := s.config.InAdminGroup(uid)
	if err != nil {
		s.config.Log.Warn("who is an administrator could not be read", "uid", uid, "error", err)
		return false
	}
	return member
}

// InGroup reads the system's own user and group database: whether a user is a
// member of a group. A group or a user that does not exist is no error.
func InGroup(group string) func(uid uint32) (bool, error) {
	return func(uid uint32) (bool, error) {
		g, err := user.LookupGroup(group)
		if err != nil {
			_, missing := errors.AsType[user.UnknownGroupError](err)
			return false, ignore(err, missing)
		}
		u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
		if err != nil {
			_, missing := errors.AsType[user.UnknownUserIdError](err)
			return false, ignore(err, missing)
		}
		ids, err := u.GroupIds()
		return err == nil && slices.Contains(ids, g.Gid), err
	}
}

func ignore(err error, harmless bool) error {
	if harmless {
		return nil
	}
	return err
}

// AdminGroup says who is an administrator without a proof; nil where a group alone proves
// nothing, as on macOS.
func AdminGroup() func(uid uint32) (bool, error) {
	if runtime.GOOS != "linux" {
		return nil
	}
	return InGroup(api.AdminGroup)
}
