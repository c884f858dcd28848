using System.Runtime.CompilerServices;

namespace Net.Zlink;

/// <summary>Messages for one socket or peer that are sent one behind the other.</summary>
internal interface ISendBatch
{
    int Count { get; }

    /// <summary>Sends, from one on, as many as need not wait. Returns how many.</summary>
    int SendSome(int from);

    /// <summary>Sends one, waiting for room.</summary>
    ValueTask SendAsync(int index, CancellationToken cancellation);

    /// <summary>That one is accepted.</summary>
    void OnSent(int index);
}

/// <summary>Sends a batch to its end, for every kind of socket.</summary>
internal static class SendBatch
{
    /// <summary>Waits for room until all are accepted. What ends it behind the first one, a cancellation or the peer's end, is for the next
    /// call to tell, since what was accepted has to be told. Allocates nothing, waiting or not.</summary>
    /// <returns>How many were accepted.</returns>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public static async ValueTask<int> SendAllAsync<TBatch>(TBatch batch, CancellationToken cancellation)
        where TBatch : struct, ISendBatch
    {
        cancellation.ThrowIfCancellationRequested();
        int sent = 0;
        try
        {
            while ((sent += batch.SendSome(sent)) < batch.Count)
            {
                await batch.SendAsync(sent, cancellation).ConfigureAwait(false);
                batch.OnSent(sent);
                sent++;
            }
        }
        catch (Exception e) when (sent > 0 && (e is OperationCanceledException or ZlinkException))
        {
        }

        return sent;
    }
}
