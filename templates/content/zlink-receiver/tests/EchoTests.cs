using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink;
using Net.Zlink.Services;
using Xunit;

namespace ZlinkApp1.Tests;

public sealed class EchoTests
{
    [Fact]
    public async Task A_request_is_answered()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration["Zlink:Receivers:echo:Bind"] = "tcp://127.0.0.1:*"; // Any free port.
        builder.AddEcho();
        using IHost host = builder.Build();
        await host.StartAsync(cancellation);

        string endpoint = host.Services.GetRequiredKeyedService<ServiceReceiver>("echo").Socket.LastEndpoint;
        await using var context = new ZlinkContext();
        await using var client = new RequestClient(context, endpoint, new JsonMessageSerializer(Contracts.Default), "echo");
        await client.Service.WaitUntilReadyAsync(cancellationToken: cancellation);
        EchoReply reply = await client.RequestAsync<EchoRequest, EchoReply>(new EchoRequest("hello"), cancellationToken: cancellation);
        Assert.Equal("hello", reply.Text);
        await host.StopAsync(cancellation);
    }
}
