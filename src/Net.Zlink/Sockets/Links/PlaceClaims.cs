using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// Newcomers wait in line for a place which another connection has (docs/protocol.md, 15.3). A client that is opened and closed again and
/// again has several connections here at once, and what each has sent is received in its turn. The holder is asked once, and the line is
/// short, so a flood of newcomers costs little more than one.
/// </summary>
internal sealed class PlaceClaims
{
    /// <summary>When more wait, the newest takes the place of the one before it in the line.</summary>
    public const int MaxWaiting = 32;

    private readonly Lock _gate = new();

    /// <summary>False if the holder has shown a certificate and the newcomer none with the same subject.</summary>
    public static bool MayWait(WireLink holder, PeerIdentity newcomer) =>
        holder.Peer.Certificate is not { } own
        || (newcomer.Certificate is { } other && string.Equals(own.Subject, other.Subject, StringComparison.Ordinal));

    /// <summary>The caller calls <see cref="Ask"/> outside the lock.</summary>
    public PlaceQuestion Add(WireLink holder, WireLink newcomer)
    {
        lock (_gate)
        {
            WireLink before = holder;
            for (int waiting = 1; waiting < MaxWaiting && before.Newcomer is { } earlier; waiting++)
            {
                before = earlier;
            }

            var question = new PlaceQuestion(holder.IsQuestionPending ? null : holder, before.Newcomer);
            before.Newcomer = newcomer;
            holder.IsQuestionPending = true;
            newcomer.WaitsFor = before;
            return question;
        }
    }

    public static void Ask(in PlaceQuestion question)
    {
        Reject(question.Displaced);
        question.Holder?.Accepted?.PostToSink();
    }

    /// <summary>The first of the line comes again. It is asked in its turn if others wait behind it.</summary>
    public void OnLeft(WireLink holder)
    {
        WireLink? first;
        lock (_gate)
        {
            first = holder.Newcomer;
            holder.Newcomer = null;
            holder.IsQuestionPending = false;
            first?.IsQuestionPending = first.Newcomer is not null;
        }

        first?.Accepted?.PostToSink();
    }

    /// <summary>The newcomers are closed without an ERROR, so their sockets connect again.</summary>
    public void OnAnswered(WireLink holder)
    {
        List<WireLink> all = [];
        lock (_gate)
        {
            for (WireLink? before = holder; before is not null;)
            {
                WireLink? next = before.Newcomer;
                before.Newcomer = null;
                before.IsQuestionPending = false;
                if (next is not null)
                {
                    all.Add(next);
                }

                before = next;
            }
        }

        all.ForEach(Reject);
    }

    /// <summary>
    /// True: the silent holder leaves. Those in the line had its time to end, too: each is read, and only the newest may stay.
    /// </summary>
    public bool IsToLeave(WireLink holder)
    {
        lock (_gate)
        {
            for (WireLink? one = holder.Newcomer; one?.Newcomer is { } next; one = next)
            {
                one.IsToEnd = true;
            }

            return holder.IsQuestionPending = holder.Newcomer is not null;
        }
    }

    public void Remove(WireLink newcomer)
    {
        lock (_gate)
        {
            if (newcomer.WaitsFor is { } before && ReferenceEquals(before.Newcomer, newcomer))
            {
                WireLink? next = newcomer.Newcomer;
                newcomer.Newcomer = null;
                newcomer.IsQuestionPending = false;
                before.Newcomer = next;
                next?.WaitsFor = before;
            }
        }
    }

    public static void Reject(WireLink? newcomer) => newcomer?.Accepted?.RequestClose(DisconnectReason.Refused, CloseMode.Orderly);
}

internal readonly record struct PlaceQuestion(WireLink? Holder, WireLink? Displaced);
