using System.Diagnostics;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Settings;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Load;

public sealed class ConversationTests : IDisposable
{
    private static readonly ScenarioSettings Settings = new() { InFlight = 4, Size = 32, SendBatch = 3, LatencySampleRate = 1 };

    private readonly LoadState _state = new(Settings) { IsSending = true };

    public void Dispose() => _state.Dispose();

    [Fact]
    public void A_load_conversation_sends_in_batches_and_stays_within_its_limit_in_flight()
    {
        var conversation = new Conversation(_state, 7);
        byte[] batch = _state.Worker.Batch;
        int frame = _state.Template.FrameLength;
        Assert.Equal(3 * frame, conversation.Compose(batch));
        Assert.Equal(frame, conversation.Compose(batch));
        Assert.Equal(0, conversation.Compose(batch));
        Assert.Equal(4, conversation.InFlight);
        Assert.Equal(4, conversation.Sent);
    }

    [Fact]
    public void A_reply_makes_room_for_one_more()
    {
        var conversation = new Conversation(_state, 7);
        byte[] sent = Compose(conversation);
        int frame = _state.Template.FrameLength;
        Assert.Equal(frame, conversation.OnBytes(sent.AsSpan(0, frame), _state.Worker));
        Assert.Equal(3, conversation.InFlight);
        Assert.Equal(frame, conversation.Compose(_state.Worker.Batch));
        Assert.Equal(0, _state.Gating.Total);
    }

    [Fact]
    public void Half_a_frame_waits_for_its_other_half()
    {
        var conversation = new Conversation(_state, 7);
        byte[] sent = Compose(conversation);
        int frame = _state.Template.FrameLength;
        Assert.Equal(frame, conversation.OnBytes(sent.AsSpan(0, frame + 3), _state.Worker));
        Assert.Equal(0, conversation.OnBytes(sent.AsSpan(frame, frame - 1), _state.Worker));
        Assert.Equal(frame, conversation.OnBytes(sent.AsSpan(frame, frame), _state.Worker));
        Assert.Equal(2, _state.Replies);
        Assert.Equal(0, _state.Gating.Total);
    }

    [Fact]
    public void Nothing_is_sent_when_the_load_does_not_send()
    {
        _state.IsSending = false;
        Assert.Equal(0, new Conversation(_state, 7).Compose(_state.Worker.Batch));
    }

    [Fact]
    public void A_probe_is_one_message_although_the_load_does_not_send()
    {
        _state.IsSending = false;
        var conversation = new Conversation(_state, 7);
        conversation.AllowProbe();
        byte[] sent = Compose(conversation);
        Assert.Equal(_state.Template.FrameLength, sent.Length);
        conversation.OnBytes(sent, _state.Worker);
        Assert.Equal((0, 1), (conversation.InFlight, _state.Replies));
        Assert.False(conversation.MaySend);
        Assert.Equal(0, _state.Gating.Total);
    }

    [Fact]
    public void A_changed_reply_makes_room_and_counts_as_corrupt_and_not_as_received()
    {
        var conversation = new Conversation(_state, 7);
        byte[] sent = Compose(conversation);
        _state.MeasureFrom = 0;
        sent[^1] ^= 1;
        conversation.OnBytes(sent, _state.Worker);
        Assert.Equal(0, conversation.InFlight);
        Assert.Equal(3, _state.Replies);
        Assert.Equal(1, _state.Gating.Corrupt);
        Assert.Equal(3, _state.Latencies().Count);
    }

    [Fact]
    public void Only_what_was_sent_in_the_window_is_timed_whenever_its_reply_comes()
    {
        var conversation = new Conversation(_state, 7);
        byte[] before = Compose(conversation);
        _state.MeasureFrom = Stopwatch.GetTimestamp();
        conversation.OnBytes(before, _state.Worker);
        Assert.Equal(0, _state.Latencies().Count);

        byte[] within = Compose(conversation);
        _state.MeasureUntil = Stopwatch.GetTimestamp();
        conversation.OnBytes(within, _state.Worker);
        Assert.Equal(4, _state.Latencies().Count);

        conversation.OnBytes(Compose(conversation), _state.Worker);
        Assert.Equal(4, _state.Latencies().Count);
        Assert.Equal(12, _state.Replies);
    }

    [Fact]
    public void A_message_that_is_never_answered_stays_in_flight()
    {
        var conversation = new Conversation(_state, 7);
        byte[] sent = Compose(conversation);
        int frame = _state.Template.FrameLength;
        conversation.OnBytes(sent.AsSpan(frame), _state.Worker);
        Assert.Equal(1, conversation.InFlight);
        Assert.Equal(3, _state.Replies);
        Assert.Equal(0, _state.Gating.Total);
        Assert.Equal(3 * frame, conversation.Compose(_state.Worker.Batch));
        Assert.Equal(4, conversation.InFlight);
    }

    private byte[] Compose(Conversation conversation)
    {
        var all = new List<byte>();
        for (int length = conversation.Compose(_state.Worker.Batch); length > 0; length = conversation.Compose(_state.Worker.Batch))
        {
            all.AddRange(_state.Worker.Batch.AsSpan(0, length));
        }

        return [.. all];
    }
}
