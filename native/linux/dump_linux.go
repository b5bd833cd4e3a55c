package linux

import (
	"errors"
	"time"

	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

const (
	// dumpTries is how often a dump is asked for that changes while it is told.
	// The last answer is taken as it is: the changes come as hints too.
	dumpTries = 4
	// dumpWithin is how long the kernel may take for one datagram. It answers
	// within the call that asks; this is for a kernel that does not.
	dumpWithin = 2 * time.Second
)

// routes is a socket on which the kernel is asked about the network namespace of the
// calling thread, one question after the other.
type routes struct{ socket *nl.NetlinkSocket }

func openRoutes() (routes, error) {
	socket, err := nl.GetNetlinkSocketAt(netns.None(), netns.None(), unix.NETLINK_ROUTE)
	if err != nil {
		return routes{}, err
	}
	within := unix.NsecToTimeval(dumpWithin.Nanoseconds())
	if err := socket.SetReceiveTimeout(&within); err != nil {
		socket.Close()
		return routes{}, err
	}
	// With strict checks the kernel looks at the table that is asked for, and
	// not all tables are told; kernels before 4.20 tell all.
	_ = unix.SetsockoptInt(socket.GetFd(), unix.SOL_NETLINK, unix.NETLINK_GET_STRICT_CHK, 1)
	return routes{socket}, nil
}

// ask sends a question, and gives the messages of that kind that answer it.
func (r routes) ask(question *nl.NetlinkRequest, answer uint16) ([][]byte, error) {
	question.Sockets = map[int]*nl.SocketHandle{unix.NETLINK_ROUTE: {Seq: question.Seq, Socket: r.socket}}
	return question.Execute(unix.NETLINK_ROUTE, answer)
}

// dump asks for a table, and gives what can be read of its rows.
func dump[T any](r routes, table int, answer uint16, body []byte, parse func([]byte) (T, bool)) (rows []T, err error) {
	var found [][]byte
	for range dumpTries {
		question := nl.NewNetlinkRequest(table, unix.NLM_F_DUMP)
		question.AddRawData(body)
		if found, err = r.ask(question, answer); !errors.Is(err, nl.ErrDumpInterrupted) {
			break
		}
	}
	if err != nil && !errors.Is(err, nl.ErrDumpInterrupted) {
		return nil, err
	}
	for _, data := range found {
		if row, ok := parse(data); ok {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// dumpTables asks for all links, addresses and default routes of the network
// namespace of the calling thread.
func dumpTables() (out tables, err error) {
	kernel, err := openRoutes()
	if err != nil {
		return tables{}, err
	}
	defer kernel.socket.Close()
	if out.Links, err = dump(kernel, unix.RTM_GETLINK, unix.RTM_NEWLINK, make([]byte, unix.SizeofIfInfomsg), parseLink); err != nil {
		return tables{}, err
	}
	if out.Addresses, err = dump(kernel, unix.RTM_GETADDR, unix.RTM_NEWADDR, make([]byte, unix.SizeofIfAddrmsg), parseAddress); err != nil {
		return tables{}, err
	}
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		request := make([]byte, unix.SizeofRtMsg)
		request[0], request[rtTable] = family, unix.RT_TABLE_MAIN
		defaults, err := dump(kernel, unix.RTM_GETROUTE, unix.RTM_NEWROUTE, request, parseRoute)
		// No table yet, or no such family in this kernel: no routes.
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EAFNOSUPPORT) {
			return tables{}, err
		}
		out.Defaults = append(out.Defaults, defaults...)
	}
	return out, nil
}
