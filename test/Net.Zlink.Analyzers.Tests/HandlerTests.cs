using Xunit;

namespace Net.Zlink.Analyzers.Tests;

public sealed class HandlerTests
{
    [Theory]
    [InlineData("{|ZLINK003:Thread.Sleep(10)|}; return default;")]
    [InlineData("{|ZLINK003:Task.Delay(10).Wait()|}; return default;")]
    [InlineData("_ = {|ZLINK003:_task.Result|}; return default;")]
    [InlineData("{|ZLINK003:_task.GetAwaiter().GetResult()|}; return default;")]
    [InlineData("{|ZLINK003:_gate.Wait()|}; return default;")]
    [InlineData("{|ZLINK003:_other.Send(\"text\")|}; return default;")]
    [InlineData("_ = {|ZLINK003:_other.TryReceive(out Message message, TimeSpan.FromSeconds(1))|}; message.Dispose(); return default;")]
    public Task A_handler_that_blocks_is_reported(string statements) => Check("", statements);

    [Theory]
    [InlineData("peer.SendMany(frames); return default;")]
    [InlineData("_ = Task.Run(() => Thread.Sleep(10)); return default;")]
    [InlineData("if (_task.IsCompletedSuccessfully) { _ = _task.Result; } return default;")]
    [InlineData("_ = _other.TrySend(\"text\"); return default;")]
    [InlineData("if (_other.TryReceive(out Message message)) { message.Dispose(); } return default;")]
    public Task A_handler_that_returns_at_once_is_not_reported(string statements) => Check("", statements);

    [Fact]
    public Task A_wait_without_a_limit_is_reported() => Check("async", "{|ZLINK004:await _task|};");

    [Theory]
    [InlineData("await _task.WaitAsync(TimeSpan.FromSeconds(1));")]
    [InlineData("await _gate.WaitAsync(CancellationToken.None);")]
    [InlineData("await Task.Delay(10);")]
    public Task A_wait_with_a_limit_is_not_reported(string statements) => Check("async", statements);

    [Fact]
    public Task Other_classes_may_block() => AnalyzerCheck.Body<HandlerAnalyzer>("Thread.Sleep(10);");

    private static Task Check(string modifier, string statements) => AnalyzerCheck.Code<HandlerAnalyzer>($$"""
        using System;
        using System.Threading;
        using System.Threading.Tasks;
        using Net.Zlink;

        class Handler : StreamHandler
        {
            private readonly Task<int> _task = Task.FromResult(1);
            private readonly SemaphoreSlim _gate = new(1);
            private readonly DealerSocket _other = null!;

            public override {{modifier}} ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
            {
                {{statements}}
            }
        }
        """);
}
