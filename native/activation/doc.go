// Package activation takes over listening sockets from whoever started the program:
// from systemd, or any parent that follows its convention (sd_listen_fds(3)), and on
// macOS from launchd (launch_activate_socket). With them the system holds the API's
// addresses while the daemon does not run, and starts it when somebody connects. It
// also tells systemd how the program fares, where it wants to hear (sd_notify(3)).
package activation
