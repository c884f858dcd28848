using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Patterns.Ports;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>The server publishes, and each client receives each message. What is counted is what was received: one send in as many as there
/// are clients publishes.</summary>
/// <param name="server">Publishes.</param>
/// <param name="clients">Receive.</param>
/// <param name="ways">See <see cref="IPatternEnds.Ways"/>.</param>
internal readonly struct FromServer<TServer, TClient>(TServer server, TClient[] clients, int ways = 0) : IPatternEnds
    where TServer : struct, IServerPort
    where TClient : struct, IPort
{
    // The sending thread's.
    private readonly OwnLines<int> _sent = new(1);

    // The receiving thread's.
    private readonly OwnLines<int> _turn = new(1);
    private readonly OwnLines<long> _received = new(clients.Length);

    public int Ways => ways;

    public int Multiple => clients.Length;

    public void Send(ReadOnlySpan<byte> payload)
    {
        int next = _sent.First;
        if (next == 0)
        {
            server.Send(payload);
        }

        _sent.First = next + 1 < clients.Length ? next + 1 : 0;
    }

    public void Receive(Span<byte> payload)
    {
        int next = Next();
        clients[next].Receive(payload);
        _received.Span[next]++;
    }

    public int ReceiveMany(Span<byte> payload, int most)
    {
        int next = Next();
        int count = clients[next].ReceiveMany(payload, most);
        if (count == 0)
        {
            // The one that has received least still has one to come, as long as anything is.
            next = LeastReceived();
            clients[next].Receive(payload);
            count = 1;
        }

        _received.Span[next] += count;
        return count;
    }

    public void SendBack(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public void ReceiveBack(Span<byte> payload) => throw new NotSupportedException();

    public void AwaitConnection()
    {
        // What is published before a subscription has arrived is nobody's: publish until each has had one, and then take what else came.
        byte[] probe = new byte[1];
        TServer publisher = server;
        TClient[] subscribers = clients;
        bool[] had = new bool[clients.Length];
        Settling.Until(had, had =>
        {
            publisher.TrySend(probe);
            Settling.Rest();
            for (int i = 0; i < had.Length; i++)
            {
                while (subscribers[i].TryReceive(probe))
                {
                    had[i] = true;
                }
            }

            return !had.Contains(value: false);
        });
    }

    private int LeastReceived()
    {
        Span<long> received = _received.Span;
        int least = 0;
        for (int i = 1; i < received.Length; i++)
        {
            least = received[i] < received[least] ? i : least;
        }

        return least;
    }

    private int Next()
    {
        int next = _turn.First;
        _turn.First = next + 1 < clients.Length ? next + 1 : 0;
        return next;
    }
}
