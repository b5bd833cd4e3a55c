package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// forwarder is what the program does as `bench forward ADDRESS`: it hands TCP
// connections on to an address, as plainly as can be, which is what a relay between
// processes costs at least. It prints the address that it listens at, and ends when its
// standard input does.
func forwarder(to string) error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go forward(conn, to)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// forward carries a connection both ways until both have ended.
func forward(here net.Conn, to string) {
	defer here.Close()
	there, err := net.Dial("tcp4", to)
	if err != nil {
		return
	}
	defer there.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{here, there}, {there, here}} {
		both.Go(func() {
			// Not io.Copy, which would splice: what carries TLS cannot.
			buf := make([]byte, 32<<10)
			for {
				n, err := way[0].Read(buf)
				if _, failed := way[1].Write(buf[:n]); err != nil || failed != nil {
					_ = way[1].(*net.TCPConn).CloseWrite()
					return
				}
			}
		})
	}
	both.Wait()
}
