using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Patterns.Ports;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>The clients send, one message each in turn, and the server receives and answers.</summary>
/// <param name="server">Receives.</param>
/// <param name="clients">Send.</param>
/// <param name="hasWayBack">An answer reaches the client that asked: always, except where a server without addresses has many.</param>
internal readonly struct TowardsServer<TServer, TClient>(TServer server, TClient[] clients, bool hasWayBack) : IPatternEnds
    where TServer : struct, IServerPort
    where TClient : struct, IPort
{
    // Any length will do, so that it is not nothing: an empty message to a STREAM peer would close it natively.
    private const int HelloLength = 5;

    // The sending thread's.
    private readonly OwnLines<int> _turn = new(1);

    public int Ways => hasWayBack ? 2 : 0;

    public int Multiple => 1;

    public void Send(ReadOnlySpan<byte> payload)
    {
        int next = _turn.First;
        clients[next].Send(payload);
        _turn.First = next + 1 < clients.Length ? next + 1 : 0;
    }

    public void Receive(Span<byte> payload) => server.Receive(payload);

    public int ReceiveMany(Span<byte> payload, int most)
    {
        int count = server.ReceiveMany(payload, most);
        if (count == 0)
        {
            server.Receive(payload);
            count = 1;
        }

        return count;
    }

    public void SendBack(ReadOnlySpan<byte> payload) => server.Answer(payload);

    public void ReceiveBack(Span<byte> payload) => clients[_turn.First == 0 ? clients.Length - 1 : _turn.First - 1].Receive(payload);

    public void AwaitConnection()
    {
        byte[] hello = new byte[HelloLength];
        byte[] received = new byte[HelloLength];
        foreach (TClient client in clients)
        {
            Settling.Until(client, client => client.TrySend(hello));
            server.Receive(received);
            if (hasWayBack)
            {
                server.Answer(hello);
                client.Receive(received);
            }
        }
    }
}
