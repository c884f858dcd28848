using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

internal static class IpcDialer
{
    private static readonly TimeSpan DefaultTimeout = TimeSpan.FromSeconds(127);

    private static readonly TimeSpan LongestTimeout = TimeSpan.FromDays(1);

    // A listener accepts a full queue within 20 ms. With 32 ms, a hundred waiting dials cost 3,000 calls a second.
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(32);

    /// <summary>
    /// A full listener's queue refuses at once (a tcp connect would wait), so this retries until
    /// <see cref="SocketSettings.ConnectTimeout"/>.
    /// </summary>
    public static async Task<DialResult> DialAsync(
        IpcEndpoint endpoint, SocketSettings settings, TimeProvider time, DescriptorHeadroom? headroom, Action? connecting,
        CancellationToken cancellation)
    {
        IpcAddress address = endpoint.Address;
        var unsupported = IpcFaults.Unsupported(address);
        if (unsupported.Code != ZlinkError.None)
        {
            return IpcFaults.Undiallable(unsupported);
        }

        if (cancellation.IsCancellationRequested)
        {
            return IpcFaults.Cancelled(address.Text);
        }

        var limit = settings.ConnectTimeout <= TimeSpan.Zero ? DefaultTimeout
            : settings.ConnectTimeout < LongestTimeout ? settings.ConnectTimeout : LongestTimeout;
        using var deadline = new Deadline(limit, time, cancellation);
        for (var pause = FirstPause; ; pause = pause + pause < LongestPause ? pause + pause : LongestPause)
        {
            var result = await TryAsync(endpoint, settings, headroom, connecting, deadline.Token).ConfigureAwait(false);
            connecting = null;
            if (result.Error == SocketError.WouldBlock && await WaitAsync(pause, time, deadline.Token).ConfigureAwait(false))
            {
                continue;
            }

            if (result.Wire is not null)
            {
                return result;
            }

            return cancellation.IsCancellationRequested ? IpcFaults.Cancelled(address.Text)
                : deadline.IsOver ? IpcFaults.TimedOut(address.Text, limit)
                : result;
        }
    }

    private static async Task<DialResult> TryAsync(
        IpcEndpoint endpoint, SocketSettings settings, DescriptorHeadroom? headroom, Action? connecting, CancellationToken cancellation)
    {
        IpcAddress address = endpoint.Address;
        Socket? socket = null;
        try
        {
            socket = IpcSocketOptions.Open();
            if (headroom is not null && headroom.Refuses(socket))
            {
                return IpcFaults.Refused(SocketError.TooManyOpenSockets, address.Text);
            }

            IpcSocketOptions.ApplyTo(socket, settings);
            using var operation = new ConnectOperation(address.ToEndPoint());
            connecting?.Invoke();
            var error = await operation.RunAsync(socket, cancellation).ConfigureAwait(false);
            if (error != SocketError.Success)
            {
                return IpcFaults.Refused(error, address.Text);
            }

            socket.Blocking = false;
            var wire = new SocketWire(socket, endpoint.Transport);
            socket = null;
            return new DialResult(wire, SocketError.Success, "");
        }
        catch (SocketException e)
        {
            return IpcFaults.Refused(e.SocketErrorCode, address.Text);
        }
        catch (ObjectDisposedException)
        {
            return IpcFaults.Refused(SocketError.OperationAborted, address.Text);
        }
        catch (ArgumentOutOfRangeException)
        {
            return new DialResult(null, SocketError.InvalidArgument, IpcAddress.TooLong(address.Text).Sentence);
        }
        finally
        {
            socket?.Dispose();
        }
    }

    private static async Task<bool> WaitAsync(TimeSpan pause, TimeProvider time, CancellationToken cancellation)
    {
        try
        {
            await Task.Delay(pause, time, cancellation).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }
}
