using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Patterns.Ports;

namespace Net.Zlink.Scenarios.Patterns.Many;

/// <summary>The dealers take turns in sending, so many messages a turn; the router receives all.</summary>
internal sealed class DealerLoad(RouterSocket router, DealerSocket[] dealers, byte[] payload, int burst)
{
    // As in the patterns: loops in pieces are recompiled.
    private const int Piece = 1_000;

    private readonly OwnLines<byte> _received = new(payload.Length);

    // The sending thread's: whose turn it is, and how many it has sent in it.
    private readonly OwnLines<(int Next, int Sent)> _turn = new(1);

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
        ref (int Next, int Sent) turn = ref _turn.First;
        for (int i = 0; i < messages; i++)
        {
            dealers[turn.Next].Send(payload);
            if (++turn.Sent == burst)
            {
                turn.Sent = 0;
                turn.Next = turn.Next + 1 < dealers.Length ? turn.Next + 1 : 0;
            }
        }
    }

    private void Receive(int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            router.ReceiveInto(_received.Span);
        }
    }
}
