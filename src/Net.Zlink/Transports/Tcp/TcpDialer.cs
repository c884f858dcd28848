using System.Net;
using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Tcp;

/// <summary>
/// The next address begins when one fails, or after 250 ms; the first that answers wins (RFC 8305).
/// <see cref="SocketSettings.ConnectTimeout"/> limits all of it, and shortens the pause so that each address is tried.
/// </summary>
internal sealed class TcpDialer(
    TcpEndpoint endpoint, TcpSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation)
{
    private static readonly TimeSpan LongestTimeout = TimeSpan.FromDays(1);

    // RFC 8305, section 5.
    private static readonly TimeSpan NextAddressPause = TimeSpan.FromMilliseconds(250);

    private readonly TcpAddress _address = endpoint.Address;
    private readonly long _started = time.GetTimestamp();
    private Action? _connecting = connecting;

    public DescriptorHeadroom Headroom { get; init; } = DescriptorHeadroom.OfThisProcess;

    public Action<Socket>? OnSocket { get; init; }

    public async Task<DialResult> DialAsync()
    {
        if (cancellation.IsCancellationRequested)
        {
            return DialResult.Cancelled(_address.Host.Text);
        }

        IPAddress[] addresses;
        EndpointError error;
        try
        {
            using var deadline = new Deadline(TimeLeft(), time, cancellation);
            (addresses, error) = await TcpResolver
                .ResolveDestinationAsync(_address.Host, settings.IPv6, endpoint.NameSource, deadline.Token)
                .ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            var name = EndpointError.Quote(_address.Host.Text);
            return cancellation.IsCancellationRequested
                ? DialResult.Cancelled(_address.Host.Text)
                : TcpFaults.TimedOut($"the name {name} was not looked up", settings.ConnectTimeout);
        }

        return addresses.Length == 0
            ? new DialResult(null, error.OsError == SocketError.Success ? SocketError.HostNotFound : error.OsError, error.Sentence)
            : await TryAllAsync(addresses).ConfigureAwait(false);
    }

    private async Task<DialResult> TryAllAsync(IPAddress[] addresses)
    {
        using var others = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        var running = new List<Task<DialResult>>();
        var result = default(DialResult);
        var next = 0;
        while (next < addresses.Length || running.Count > 0)
        {
            if (next < addresses.Length)
            {
                running.Add(TryAsync(new IPEndPoint(addresses[next++], _address.Port), others.Token));
            }

            var ended = await FirstEndAsync(running, addresses.Length - next).ConfigureAwait(false);
            if (ended is null)
            {
                continue;
            }

            running.Remove(ended);
            result = await ended.ConfigureAwait(false);
            if (result.Wire is not null || cancellation.IsCancellationRequested || TimeLeft() == TimeSpan.Zero)
            {
                break;
            }
        }

        await others.CancelAsync().ConfigureAwait(false);
        foreach (var late in running)
        {
            (await late.ConfigureAwait(false)).Wire?.Dispose();
        }

        return result.Wire is null && addresses.Length > 1 && !cancellation.IsCancellationRequested
            ? TcpFaults.AllFailed(_address.Host, addresses.Length, result)
            : result;
    }

    private async Task<Task<DialResult>?> FirstEndAsync(List<Task<DialResult>> running, int further)
    {
        if (further == 0)
        {
            return await Task.WhenAny(running).ConfigureAwait(false);
        }

        var left = TimeLeft();
        var share = left == Timeout.InfiniteTimeSpan ? NextAddressPause : left / (further + 1);
        Task first;
        using (var over = new CancellationTokenSource())
        {
            Task pause = Task.Delay(share < NextAddressPause ? share : NextAddressPause, time, over.Token);
            first = await Task.WhenAny([.. running, pause]).ConfigureAwait(false);
            await over.CancelAsync().ConfigureAwait(false);
        }

        return first as Task<DialResult>;
    }

    private async Task<DialResult> TryAsync(IPEndPoint remote, CancellationToken end)
    {
        var left = TimeLeft();
        Socket? socket = null;
        try
        {
            socket = new Socket(remote.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
            OnSocket?.Invoke(socket);
            if (Headroom.IsTouchedBy(socket))
            {
                return TcpFaults.Refused(SocketError.TooManyOpenSockets, remote);
            }

            TcpSocketOptions.ApplyTo(socket, settings);
            if (BindSource(socket) is { } fault)
            {
                return fault;
            }

            using var deadline = new Deadline(left, time, end);
            _connecting?.Invoke();
            _connecting = null;
            Task connect = socket.ConnectAsync(remote, deadline.Token).AsTask();
            await connect.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            await ThreadHop.ToPool; // From the polling thread, with inline completions.
            await connect.ConfigureAwait(false);
            if (IsItsOwnPeer(socket))
            {
                return TcpFaults.Refused(SocketError.ConnectionRefused, remote);
            }

            socket.Blocking = false;
            var wire = new SocketWire(socket, endpoint.Transport);
            socket = null;
            return new DialResult(wire, SocketError.Success, "");
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            // A cancellation disposes the socket, also one that has connected in the same moment.
            return end.IsCancellationRequested ? DialResult.Cancelled(_address.Host.Text)
                : TcpFaults.TimedOut($"{remote} did not answer", left);
        }
        catch (SocketException e)
        {
            return TcpFaults.Refused(e.SocketErrorCode, remote);
        }
        finally
        {
            socket?.Dispose();
        }
    }

    // When a free local port is dialled, the kernel may choose it as the source and connect the socket to itself. A retrying client
    // would then keep the server from its port.
    private static bool IsItsOwnPeer(Socket socket)
    {
        try
        {
            return socket.RemoteEndPoint is { } reached && reached.Equals(socket.LocalEndPoint);
        }
        catch (SocketException)
        {
            return false;
        }
    }

    private DialResult? BindSource(Socket socket)
    {
        if (_address.SourceHost is not { } host)
        {
            return null;
        }

        if (TcpResolver.ResolveSource(host, _address.SourcePort, socket.AddressFamily, endpoint.NameSource, out EndpointError error)
            is not { } source)
        {
            return new DialResult(null, SocketError.AddressNotAvailable, error.Sentence);
        }

        try
        {
            socket.Bind(source);
            return null;
        }
        catch (SocketException e)
        {
            return TcpFaults.SourceRefused(e, source);
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
