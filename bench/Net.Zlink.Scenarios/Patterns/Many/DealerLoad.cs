using Net.Zlink.Scenarios.Patterns.Ports;

namespace Net.Zlink.Scenarios.Patterns.Many;

/// <summary>The dealers take turns in sending, so many messages a turn; the router receives all.</summary>
internal sealed class DealerLoad(RouterSocket router, DealerSocket[] dealers, byte[] payload, int burst)
{
    // As in the patterns: loops in pieces are recompiled.
    private const int Piece = 1_000;

    private readonly byte[] _received = new byte[payload.Length];
    private int _next;
    private int _sentInTurn;

    public void Run(int messages)
    {
        var receiver = new Thread(() => InPieces(messages, Receive));
        receiver.Start();
        InPieces(messages, Send);
        receiver.Join();
    }

    private static void InPieces(int count, Action<int> step)
    {
        for (int left = count; left > 0; left -= Piece)
        {
            step(Math.Min(left, Piece));
        }
    }

    private void Send(int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            dealers[_next].Send(payload);
            if (++_sentInTurn == burst)
            {
                _sentInTurn = 0;
                _next = _next + 1 < dealers.Length ? _next + 1 : 0;
            }
        }
    }

    private void Receive(int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            router.ReceiveInto(_received);
        }
    }
}
