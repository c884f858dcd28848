using System.Runtime.CompilerServices;

namespace Net.Zlink;

internal interface ISendBatch
{
    int Count { get; }

    int SendSome(int from);

    ValueTask SendAsync(int index, CancellationToken cancellation);

    void OnSent(int index);
}

internal static class SendBatch
{
    /// <summary>
    /// An error after the first message is left to the next call, because the number of accepted messages must be returned.
    /// </summary>
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
