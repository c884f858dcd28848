using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink;

internal sealed class PlainPollItem(Socket plain, PollEvents events, object? state) : PollItem(events)
{
    private readonly Lock _checked = new();
    private bool _isOut;

    public override Socket Plain => plain;

    public override PollResult ResultOf(PollEvents ready) => new(null, plain, ready, state);

    public override PollItem With(PollEvents other) => new PlainPollItem(plain, other, state);

    public override PollEvents Check()
    {
        if (Events == PollEvents.None)
        {
            return PollEvents.None;
        }

        lock (_checked)
        {
            if (_isOut)
            {
                return PollEvents.None;
            }

            // As in the native core an error is always reported: it ends every Select, so the poll would otherwise spin.
            PollEvents ready = plain.Poll(0, SelectMode.SelectError) ? PollEvents.Error : PollEvents.None;
            ready |= Check(PollEvents.In, SelectMode.SelectRead);
            return ready | Check(PollEvents.Out, SelectMode.SelectWrite);
        }
    }

    public override void Watch(IReadinessWatcher watcher)
    {
        // The poller arms the watch of all plain sockets when it waits.
    }

    /// <inheritdoc/>
    /// <remarks>
    /// When this returns, no Select holds the socket: disposing it during a Select resets its peer (<see cref="PlainSocketWatch"/>).
    /// </remarks>
    public override void Unwatch(IReadinessWatcher watcher)
    {
        lock (_checked)
        {
            _isOut = true;
        }
    }

    private PollEvents Check(PollEvents one, SelectMode mode) => Asks(one) && plain.Poll(0, mode) ? one : PollEvents.None;
}
