using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>Makes outgoing connections. Stateless and thread-safe.</summary>
internal static class TcpDialer
{
    // Timers are limited to 49 days, and every system gives up within minutes. From a day on this counts as no limit.
    private static readonly TimeSpan LongestTimeout = TimeSpan.FromDays(1);

    /// <summary>
    /// Makes one attempt: looks up the name and tries its addresses in order. <see cref="SocketSettings.ConnectTimeout"/> limits all of it;
    /// each address gets an equal share of the remaining time. Network errors and cancellation are values, not exceptions. Nothing stays
    /// open after a failure.
    /// </summary>
    /// <param name="address">The target and the source.</param>
    /// <param name="settings">Options of the socket.</param>
    /// <param name="time">The clock of the timeout.</param>
    /// <param name="connecting">Called once when the system is asked to connect to the first address.</param>
    /// <param name="cancellation">Cancels the attempt.</param>
    public static Task<DialResult> DialAsync(
        TcpConnectAddress address, TcpSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        DialAsync(address, settings, time, NameSource.System, DescriptorHeadroom.OfDials, onSocket: null, connecting, cancellation);

    /// <summary>As above, for tests: a source of names, the descriptors to leave free, and a view of every opened socket.</summary>
    internal static Task<DialResult> DialAsync(
        TcpConnectAddress address,
        TcpSettings settings,
        TimeProvider time,
        NameSource names,
        DescriptorHeadroom? headroom,
        Action<Socket>? onSocket,
        Action? connecting,
        CancellationToken cancellation) =>
        new Attempt(address, settings, time, names, headroom, onSocket, connecting, cancellation).RunAsync();

    private sealed class Attempt(
        TcpConnectAddress address,
        TcpSettings settings,
        TimeProvider time,
        NameSource names,
        DescriptorHeadroom? headroom,
        Action<Socket>? onSocket,
        Action? connecting,
        CancellationToken cancellation)
    {
        private readonly long _started = time.GetTimestamp();
        private Action? _connecting = connecting;

        public async Task<DialResult> RunAsync()
        {
            if (cancellation.IsCancellationRequested)
            {
                return TcpDialFaults.Cancelled(address.Host);
            }

            IPAddress[] addresses;
            EndpointError error;
            try
            {
                using var deadline = new Deadline(TimeLeft(), time, cancellation);
                (addresses, error) = await TcpResolver
                    .ResolveDestinationAsync(address.Host, settings.IPv6, names, deadline.Token)
                    .ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                var name = EndpointError.Quote(address.Host.Text);
                return cancellation.IsCancellationRequested
                    ? TcpDialFaults.Cancelled(address.Host)
                    : TcpDialFaults.TimedOut($"the name {name} was not looked up", settings.ConnectTimeout);
            }

            return addresses.Length == 0
                ? TcpDialFaults.Unresolved(error)
                : await TryAllAsync(addresses).ConfigureAwait(false);
        }

        private async Task<DialResult> TryAllAsync(IPAddress[] addresses)
        {
            DialResult result = default;
            for (var i = 0; i < addresses.Length; i++)
            {
                var left = TimeLeft();
                var share = left == Timeout.InfiniteTimeSpan ? left : left / (addresses.Length - i);
                result = await TryAsync(new IPEndPoint(addresses[i], address.Port), share).ConfigureAwait(false);
                if (result.Socket is not null || cancellation.IsCancellationRequested)
                {
                    return result;
                }
            }

            return addresses.Length > 1 ? TcpDialFaults.AllFailed(address.Host, addresses.Length, result) : result;
        }

        private async Task<DialResult> TryAsync(IPEndPoint remote, TimeSpan share)
        {
            Socket? socket = null;
            try
            {
                socket = new Socket(remote.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
                onSocket?.Invoke(socket);
                if (headroom is not null && headroom.Refuses(socket))
                {
                    return TcpDialFaults.Refused(SocketError.TooManyOpenSockets, remote);
                }

                TcpSocketOptions.ApplyTo(socket, settings);
                if (BindSource(socket) is { } fault)
                {
                    return fault;
                }

                using var deadline = new Deadline(share, time, cancellation);
                using var operation = new ConnectOperation(remote);
                _connecting?.Invoke();
                _connecting = null;
                var error = await operation.RunAsync(socket, deadline.Token).ConfigureAwait(false);
                if (cancellation.IsCancellationRequested)
                {
                    return TcpDialFaults.Cancelled(address.Host);
                }

                if (deadline.IsOver)
                {
                    return TcpDialFaults.TimedOut($"{remote} did not answer", share);
                }

                if (error != SocketError.Success)
                {
                    return TcpDialFaults.Refused(error, remote);
                }

                if (IsItsOwnPeer(socket))
                {
                    return TcpDialFaults.Refused(SocketError.ConnectionRefused, remote);
                }

                socket.Blocking = false;
                var connected = socket;
                socket = null;
                return new DialResult(connected, SocketError.Success, "");
            }
            catch (SocketException e)
            {
                return TcpDialFaults.Refused(e.SocketErrorCode, remote);
            }
            finally
            {
                socket?.Dispose();
            }
        }

        // When a free local port is dialled, the kernel may choose it as the source and connect the socket to itself. A retrying client
        // would then keep the server from its port. The dialled address does not show it: 0.0.0.0 leads to 127.0.0.1.
        private static bool IsItsOwnPeer(Socket socket)
        {
            try
            {
                return socket.RemoteEndPoint is { } reached && reached.Equals(socket.LocalEndPoint);
            }
            catch (SocketException)
            {
                return false; // Reset already, so not its own peer; its reads say so.
            }
        }

        private DialResult? BindSource(Socket socket)
        {
            if (address.SourceHost is null)
            {
                return null;
            }

            if (!TcpResolver.TryResolveSource(
                address.SourceHost, address.SourcePort, socket.AddressFamily, names, out var source, out var error))
            {
                return TcpDialFaults.SourceUnresolved(error);
            }

            try
            {
                socket.Bind(source);
                return null;
            }
            catch (SocketException e)
            {
                return TcpDialFaults.SourceRefused(e, source);
            }
        }

        private TimeSpan TimeLeft()
        {
            if (settings.ConnectTimeout <= TimeSpan.Zero || settings.ConnectTimeout > LongestTimeout)
            {
                return Timeout.InfiniteTimeSpan;
            }

            var left = settings.ConnectTimeout - time.GetElapsedTime(_started);
            return left > TimeSpan.Zero ? left : TimeSpan.Zero;
        }
    }
}
