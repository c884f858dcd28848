using System.Runtime.CompilerServices;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests;

/// <summary>A context that was disposed is the collector's, with all its sockets, whatever threads and messages it has had to do
/// with.</summary>
public sealed class DisposedContextTests
{
    [Fact]
    public async Task Is_not_kept_by_a_thread_that_sent_and_lives_on()
    {
        var had = new TaskCompletionSource<WeakReference>(TaskCreationOptions.RunContinuationsAsynchronously);
        using var mayEnd = new ManualResetEventSlim();
        var threads = new TestThreads();
        threads.Start(() =>
        {
            had.SetResult(SendAndDispose());
            mayEnd.Wait(Guard.Token);
        });
        try
        {
            await UntilGoneAsync(await had.Task.Guarded());
        }
        finally
        {
            mayEnd.Set();
        }

        await threads.JoinAsync(static () => 0);
    }

    [Fact]
    public Task Is_not_kept_by_the_notice_of_a_topic_that_was_read() => UntilGoneAsync(ReadNoticeAndDispose());

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference SendAndDispose()
    {
        using var context = new ZlinkContext();
        PairSocket sender = context.CreatePair();
        PairSocket receiver = context.CreatePair();
        sender.Connect(receiver.Bind("tcp://127.0.0.1:0"));
        sender.Send("first"u8);
        receiver.Receive(Guard.Limit).Dispose();
        sender.Send("last"u8); // This thread receives nothing behind it.
        return new WeakReference(context);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference ReadNoticeAndDispose()
    {
        using var context = new ZlinkContext();
        XPubSocket publisher = context.CreateXPub();
        SubSocket subscriber = context.CreateSub();
        subscriber.Subscribe("topic"u8);
        subscriber.Connect(publisher.Bind("inproc://kept"));
        publisher.Receive(Guard.Limit).Dispose();
        return new WeakReference(context);
    }

    private static Task UntilGoneAsync(WeakReference had) => Guard.UntilAsync(
        () =>
        {
            GC.Collect();
            return !had.IsAlive;
        },
        "the context is collected");
}
