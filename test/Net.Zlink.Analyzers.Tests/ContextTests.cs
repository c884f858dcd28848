using Xunit;

namespace Net.Zlink.Analyzers.Tests;

public sealed class ContextTests
{
    [Theory]
    [InlineData("var context = {|ZLINK005:new ZlinkContext()|}; _ = context.CreatePub();")]
    [InlineData("var context = {|ZLINK005:new ZlinkContext()|}; var directory = new RegistryDirectory(context);")]
    [InlineData("_ = {|ZLINK005:new ZlinkContext()|}.CreatePub();")]
    public Task A_context_that_is_kept_and_not_disposed_is_reported(string statements) => AnalyzerCheck.Body<ContextAnalyzer>(statements);

    [Theory]
    [InlineData("await using var context = new ZlinkContext(); _ = context.CreatePub();")]
    [InlineData("using (var context = new ZlinkContext()) { _ = context.CreatePub(); }")]
    [InlineData("var context = new ZlinkContext(); try { _ = context.CreatePub(); } finally { await context.DisposeAsync(); }")]
    [InlineData("var context = new ZlinkContext(); await context.ShutdownAsync(TimeSpan.FromSeconds(1), token);")]
    [InlineData("var context = new ZlinkContext(); GC.KeepAlive(context);")]
    [InlineData("ZlinkContext Make() => new ZlinkContext(); _ = Make();")]
    public Task A_context_that_is_disposed_or_handed_on_is_not_reported(string statements) =>
        AnalyzerCheck.Body<ContextAnalyzer>(statements);

    [Fact]
    public Task The_fix_declares_the_context_with_await_using() => AnalyzerCheck.FixedBody<ContextAnalyzer>(
        "        var context = {|ZLINK005:new ZlinkContext()|};\n        _ = context.CreatePub();",
        "        await using var context = new ZlinkContext();\n        _ = context.CreatePub();");

    [Fact]
    public Task The_fix_declares_the_context_with_using_where_nothing_can_wait() => AnalyzerCheck.FixedBody<ContextAnalyzer>(
        "void Run()\n{\n    var context = {|ZLINK005:new ZlinkContext()|};\n    _ = context.CreatePub();\n}",
        "void Run()\n{\n    using var context = new ZlinkContext();\n    _ = context.CreatePub();\n}");
}
