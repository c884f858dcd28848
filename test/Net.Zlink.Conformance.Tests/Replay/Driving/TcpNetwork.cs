using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>tcp of this machine, which carries ws as well.</summary>
internal sealed class TcpNetwork(Transcript transcript, string implemented, ReplayClock clock) : PlayedNetwork(transcript, implemented)
{
    private PlayedListener? _listener;
    private int _implementedPort;

    public override int? Seen => _listener?.Seen;

    public IEnumerable<int> ListeningPorts => new[] { _implementedPort, _listener?.Port ?? 0 }.Where(port => port > 0);

    /// <summary>Any free port.</summary>
    public override string BindText(Side side) => EndpointOf(side, FreePort.Next());

    public override void ImplementationIsAt(string endpoint) => _implementedPort = new Uri(endpoint).Port;

    public override void Listen() => _listener = new PlayedListener(Changed);

    public override void StopListening() => _listener?.Dispose();

    public override string ConnectText(Side side)
    {
        PlayedListener listener = _listener ?? throw new ReplayFailedException("the played side does not listen");
        return EndpointOf(side, listener.Port);
    }

    public override void Dispose()
    {
        _listener?.Dispose();
        base.Dispose();
    }

    protected override async Task<PlayedConnection> OpenAsync(int connection, CancellationToken cancellation)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, _implementedPort), cancellation);
        }
        catch (SocketException fault)
        {
            socket.Dispose();
            throw new ReplayFailedException($"connection {connection} could not be opened: {fault.SocketErrorCode}");
        }

        return Of(connection, socket);
    }

    protected override PlayedConnection? Take(int connection) =>
        _listener is not null && _listener.TryTake(out Socket? socket) ? Of(connection, socket!) : null;

    private TcpConnection Of(int connection, Socket socket) => new(connection, socket, Changed, () => clock.Elapsed);

    private static string EndpointOf(Side side, int port) => (side.Endpoint ?? $"{side.Transport}://127.0.0.1:PORT")
        .Replace("PORT", port.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal);
}
